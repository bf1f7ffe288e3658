package schemas

// InstructionKinds are the kinds of learnings that tell their readers what to do.
// Whoever writes one writes into the instructions of others, so it takes effect
// only when it was released.
func InstructionKinds() []string { return []string{"procedure", "constraint", "template"} }
