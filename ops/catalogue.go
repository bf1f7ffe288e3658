package ops

// Catalogue lists every operation there is (INV-CATALOGUE), in the order tools
// are shown: fixed, so that clients' prompt caches hold.
func Catalogue() []*Operation {
	return []*Operation{
		agentRegister,
		agentList,
		agentCapabilities,
		agentDeactivate,
		agentLifecycle,
		memoryReadHot,
		memoryWriteHot,
		memorySession,
		memorySearch,
		memoryReadWarm,
		memoryWriteWarm,
		memoryDeleteWarm,
		memoryShare,
		memoryGroup,
		eventsPoll,
		eventsSubscribe,
		trustAssess,
		trustScore,
		taskSubmit,
		taskClaim,
		taskReport,
		taskStatus,
		taskCancel,
		swarmCreate,
		swarmStatus,
		swarmDisband,
		reintegrate,
		reviewList,
		reviewDecide,
		roleEvent,
		roleSpawn,
		roleMessage,
		roleList,
		roleDraft,
	}
}

// Names lists the names of all operations: what capabilities may grant.
func Names() []string {
	all := Catalogue()
	names := make([]string, len(all))
	for i, o := range all {
		names[i] = o.Name
	}
	return names
}

// Find returns the operation of that name, nil if there is none.
func Find(name string) *Operation {
	for _, o := range Catalogue() {
		if o.Name == name {
			return o
		}
	}
	return nil
}
