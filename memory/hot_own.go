package memory

// Own is the part of the context that its entity may write, as canonical JSON:
// what an export carries to another node.
func (d HotDoc) Own() ([]byte, error) { return canonicalOf(ownPart(d.Context)) }
