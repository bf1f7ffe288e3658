package memory

// doubt weighs where d comes from and whose word it is.
func (p *plan) doubt(d *doc) {
	d.keeps = 1
	if d.source.SecondHand() || d.stale != "" {
		d.keeps *= secondHand
	}
	if d.source.SecondHand() {
		d.doubts = append(d.doubts, "second-hand")
	}
	if d.stale != "" {
		d.doubts = append(d.doubts, "its origin changed")
	}
	if p.Trust != nil {
		if weight := p.Trust(d.author); weight < 1 {
			d.keeps *= weight
			d.inaccurate = true
			d.doubts = append(d.doubts, "author proved inaccurate")
		}
	}
	d.doubted = len(d.doubts) > 0
}

// lender is beside, if it may lend d its words.
func (d *doc) lender(beside *doc) *doc {
	if beside == nil || beside.lends(d) < 1 {
		return nil
	}
	return beside
}

// lends is the part of its weight that from keeps and to, weighed by itself, would
// not: both together let nothing of a doubted match count for more beside it.
func (from *doc) lends(to *doc) float64 {
	if from.keeps >= to.keeps {
		return 1
	}
	return from.keeps / to.keeps
}
