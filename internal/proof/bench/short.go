//go:build unix

package main

// short says, by part, why a figure is below its bar; it is printed when one is.
var short = map[string]string{
	"start": "Before its first answer a process reads the schema of its database, derives two keys, proves one and " +
		"registers its tools; " +
		"the empty server does none of that. Keys and schema are done at once where there are two processors.",
	"write": "Protocol and rows alone come to about 1.25 ×. The rest is what a bare row lacks: rights looked up " +
		"and checked " +
		"in the transaction, the words and letters that search finds it by, likeness to other items, signature and " +
		"hash of the record. " +
		"SQLite takes over half of all of it. As the store grows it grows, but less than the bare rows do.",
	"processes": "Both sides use all of two processors, and ours more of them for a write: what one costs above the " +
		"bare rows, " +
		"and the clients, which a bare writer has not.",
	"claims": "A claim or a report writes the item, its lease, an event and an audit entry, and is decided and " +
		"answered over stdio; " +
		"a bare commit writes one row. All of two processors is used.",
	"search": "Of a question in words of a text a fourth is spent on reading the 400 items that are scored, 28 columns " +
		"each, a fifth on the lists of the items that hold its words, a tenth on counting how common the words are, and " +
		"a tenth on scoring. Of one in 30 words counting takes a sixth, and meaning a fifth, since words cover little.",
	"memory": "More than half are pages of the program's file: a search touches most of its code and of the tables " +
		"by which Go unwinds it. Of the rest Go's heap has 9 MB, 3.4 of them the signs of 100,000 vectors, Go's own " +
		"tables 6, and SQLite 7, of which its allocator keeps up to 4 that are free.",
}
