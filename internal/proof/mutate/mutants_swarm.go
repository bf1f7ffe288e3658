package main

// swarmMutants break the rules of who works with whom.
func swarmMutants() []mutant {
	return []mutant{
		{"INV-STAGE", "swarm/arrange.go",
			"memory.HandOn(g, ids, from, c.GroupID, reported)",
			"memory.HandOn(g, ids, from, c.GroupID, reported+1<<50)",
			"./ops", "TestWhatChangedIsNotHandedOn_INV_STAGE"},
		{"INV-SWARM-WHOLE", "swarm/create.go",
			"return b.out, b.make(made, enroll)",
			"_ = b.make(made, enroll)\n	return b.out, nil",
			"./internal/proof/scenario", "TestSwarmFaults_INV_SWARM_WHOLE"},
		{"a manifest is within its maker's rights", "swarm/create.go",
			"	if len(b.out.Refused) > 0 {\n",
			"	if len(b.out.Refused) > 99 {\n",
			"./ops", "TestSwarmIsWithinItsMaker"},
		{"INV-CELL", "swarm/create.go",
			"case s == b.lead, b.strategy == schemas.Broadcast:",
			"case s == b.lead, b.strategy == schemas.Broadcast, b.strategy == schemas.Hierarchical:",
			"./ops", "INV_CELL"},
	}
}
