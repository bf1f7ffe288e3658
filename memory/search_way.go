package memory

// Way is a way of finding items beside the words of a question themselves. Ways add up.
type Way uint8

// The ways that a search can leave out, to measure what each is worth.
const (
	ByUse     Way = 1 << iota // words used like those asked for
	ByDate                    // the days, weeks and months that the question names
	ByAuthor                  // who wrote it, if the question names them
	BySubject                 // the current item of the subject and key of one that is found
	ByMeaning                 // vectors that lie near that of the question
)
