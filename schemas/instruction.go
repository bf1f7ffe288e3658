package schemas

// InstructionKinds are the kinds of learnings that instruct their readers. An author of one
// writes into the instructions of other agents, so it takes effect only after its release.
func InstructionKinds() []string { return []string{"procedure", "constraint", "template"} }
