package main

import "slices"

// mutants are the rules that are broken, one place each.
func mutants() []mutant {
	return slices.Concat(identityMutants(), storeMutants(), memoryMutants(), provenanceMutants(), faceMutants(),
		pipelineMutants(), controllerMutants(), trustMutants(), swarmMutants(), runMutants(), roleMutants())
}
