package schemas

// ItemWords is what a verdict on an item is about: its present words, and whose place
// they lie in.
type ItemWords struct {
	ID         ItemID
	Line       ItemID // the first item of its line of copies, which verdicts are kept under
	Hash       []byte // of the words
	Visibility Visibility
	Owner      EntityID
	Group      GroupID
}
