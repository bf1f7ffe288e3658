package main

// criteria is how many a subtask has.
const criteria = 6

// A criterion can be as it should be, or not; and what is shown of it can say so, or
// look well all the same.
type sight string

const (
	met    sight = "met"
	shown  sight = "unmet, and it shows"
	hidden sight = "unmet, and it looks met"
)

// artefact is what lies where the machine check of a faulty criterion looks.
type artefact string

const (
	absent    artefact = "absent"    // or with other words in it
	old       artefact = "old"       // right, from before the attempt
	earlier   artefact = "earlier"   // right, from the attempt before this one
	restamped artefact = "restamped" // right, from before, with its time set to now
)

// trick is what is done to the messages.
type trick string

const (
	silent     trick = "no verdict on what is faulty"
	twice      trick = "executor and judge report again, and better"
	late       trick = "who lost the lease reports after who has it"
	contradict trick = "two verdicts on what is faulty, a pass and a fail"
	lying      trick = "the judge passes everything, whatever is shown"
	merging    trick = "the executor asks for the seat that merges its work"
	family     trick = "an agent of the executor's own asks for the seat that judges it, and would pass everything"
)

// proof is what the executor shows of a faulty criterion.
type proof string

const (
	proves  proof = ""                    // a call that ends as it looks
	failed  proof = "its call exits 1"    // and is said to have worked
	quiet   proof = "its call exits 0"    // and what it printed shows that the criterion is unmet
	nothing proof = "no call of any kind" // nor of the criteria that are met
)

// fault is what is wrong in a trial.
type fault struct {
	name, about string
	unmet       int // criteria, drawn at random
	looks       sight
	left        artefact
	trick       trick
	shows       proof
	whole       bool // what is unmet is the criterion of the whole task
	recorded    bool // each criterion names a command, and the node records the executor's calls
}

func faults() []fault {
	return []fault{
		{name: "none", about: "every criterion is met"},
		{name: "1 of 6 unmet", about: "one criterion is unmet, and the evidence shows it", unmet: 1, looks: shown,
			left: absent},
		{name: "3 of 6 unmet", about: "three are, and the evidence shows it", unmet: 3, looks: shown, left: absent},
		{name: "fabricated", about: "the evidence of an unmet criterion is made up; nothing lies where a check looks",
			unmet: 1, looks: hidden, left: absent},
		{name: "stale", about: "the artefact is an hour older than the attempt", unmet: 1, looks: hidden, left: old},
		{name: "other attempt's", about: "the first attempt wrote it and failed on another criterion; the next ones " +
			"did not", unmet: 1, looks: hidden, left: earlier},
		{name: "missing verdict", about: "the judge says nothing of the unmet criterion", unmet: 1, looks: hidden,
			left: absent, trick: silent},
		{name: "duplicate", about: "executor and judge report once more under the same lease, and better", unmet: 1,
			looks: shown, left: absent, trick: twice},
		{name: "late", about: "an executor who gave its lease back reports success after the one who has it", unmet: 1,
			looks: shown, left: absent, trick: late},
		{name: "contradicting", about: "the judge passes the unmet criterion and fails it in one answer", unmet: 1,
			looks: shown, left: absent, trick: contradict},
		{name: "lying judge", about: "the judge passes everything", unmet: 1, looks: hidden, left: absent,
			trick: lying},
		{name: "failed call", about: "the executor's own call of the unmet criterion exits 1; it says that it " +
			"worked, and the judge believes it", unmet: 1, looks: hidden, left: absent, shows: failed},
		{name: "no call", about: "the executor reports success without a single call, and the judge believes it",
			unmet: 1, looks: hidden, left: absent, shows: nothing},
		{name: "collusion", about: "the executor's calls exit 0 and what they print shows the unmet criterion; an agent " +
			"of the executor's own asks to judge it and would pass it", unmet: 1, looks: shown, left: absent, trick: family,
			shows: quiet},
		{name: "self-merge", about: "the criterion of the whole is unmet, and the executor asks to merge its own " +
			"work and would pass it", trick: merging, whole: true},
		{name: "time set", about: "as stale, and the executor set the file's time to now", unmet: 1, looks: hidden,
			left: restamped},
		{name: "fabricated, recorded", about: "each criterion names a command and the node records the calls; that " +
			"of the unmet one is claimed, and was never made", unmet: 1, looks: hidden, left: absent, recorded: true},
		{name: "stale, recorded", about: "recorded, too; the call of the unmet criterion exited 0, and a file was " +
			"written after it", unmet: 1, looks: hidden, left: old, recorded: true},
		{name: "time set, recorded", about: "as that, and the executor set the file's time to now in place of " +
			"writing one", unmet: 1, looks: hidden, left: restamped, recorded: true},
	}
}

// shares are how many of the criteria have a machine check.
func shares() []int { return []int{0, criteria / 2, criteria} }

// seeds is how many trials there are of a fault and a share.
const seeds = 100
