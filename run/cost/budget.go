package cost

import (
	"fmt"
	"sync"

	"cordelia/work"
)

// Budget is what a run may spend. Zero values are no bound.
type Budget struct {
	Cost   int64 // millionths of a US dollar
	Tokens int64
}

// Purse is what a run has spent so far.
type Purse struct {
	Budget
	mu    sync.Mutex
	spent work.Usage
	free  bool // some call had no price
}

// NewPurse is a budget of which nothing is spent.
func NewPurse(b Budget) *Purse { return &Purse{Budget: b} }

// Left refuses another call once a bound is reached, with what a call has taken so far.
func (p *Purse) Left(so work.Usage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	spent := Sum(p.spent, so)
	tokens := spent.Input + spent.Cached + spent.Written + spent.Output
	switch {
	case p.Cost > 0 && spent.Cost >= p.Cost:
		return fmt.Errorf("the budget of %s is spent", Money(p.Cost))
	case p.Tokens > 0 && tokens >= p.Tokens:
		return fmt.Errorf("the budget of %d tokens is spent", p.Tokens)
	}
	return nil
}

// Spend notes what a call took.
func (p *Purse) Spend(u work.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = p.free || u.Cost < 0 && u.Input+u.Output > 0
	p.spent = Sum(p.spent, u)
}

// Total is what was spent; known is false where some of it has no price.
func (p *Purse) Total() (u work.Usage, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent, !p.free
}

// Sum is the sum of two usages; what has no price counts nothing.
func Sum(a, b work.Usage) work.Usage {
	sum := work.Usage{Input: a.Input + b.Input, Cached: a.Cached + b.Cached, Written: a.Written + b.Written,
		Output: a.Output + b.Output, Cost: a.Cost}
	switch {
	case a.Cost < 0:
		sum.Cost = b.Cost
	case b.Cost > 0:
		sum.Cost += b.Cost
	}
	return sum
}

// Money words an amount of millionths of a US dollar.
func Money(micros int64) string {
	if micros < 0 {
		return "unknown"
	}
	if micros < 10_000 {
		return fmt.Sprintf("$%.4f", float64(micros)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(micros)/1e6)
}
