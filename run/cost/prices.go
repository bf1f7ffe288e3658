package cost

import (
	"errors"
	"fmt"
	"math"
	"strings"

	strictjson "github.com/go-json-experiment/json"

	"cordelia/work"
)

// Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	Input   float64  `json:"input"`
	Output  float64  `json:"output"`
	Cached  *float64 `json:"cached"`  // read from a cache; left out: as input
	Written *float64 `json:"written"` // written to a cache; left out: as input
}

// Prices are those that the user wrote down, by the name of a model or, for a client that
// names none, of the client. A name may end in *.
type Prices map[string]Price

// ReadPrices reads a file of prices.
func ReadPrices(raw []byte) (Prices, error) {
	var p Prices
	if err := strictjson.Unmarshal(raw, &p, strictjson.RejectUnknownMembers(true)); err != nil {
		return nil, errors.New(`it is not like {"MODEL": {"input": 1, "output": 2, "cached": 0.1, "written": 1.25}}, ` +
			"US dollars for a million tokens")
	}
	for name, one := range p {
		for _, v := range []*float64{&one.Input, &one.Output, one.Cached, one.Written} {
			if v != nil && (*v < 0 || *v > 1e6 || math.IsNaN(*v)) {
				return nil, fmt.Errorf("the price of %q is out of range: %v", name, *v)
			}
		}
	}
	return p, nil
}

// find is the price of a name: its own or, of those with *, the longest that fits.
func (p Prices) find(name string) (price Price, ok bool) {
	if price, ok = p[name]; ok || name == "" {
		return price, ok
	}
	longest := -1
	for pattern, one := range p {
		begin, open := strings.CutSuffix(pattern, "*")
		if open && strings.HasPrefix(name, begin) && len(begin) > longest {
			price, longest = one, len(begin)
		}
	}
	return price, longest >= 0
}

// Cost is what a usage costs, in millionths of a US dollar: as its client counts it, or by
// the price of the model, or work.UnknownCost.
func (p Prices) Cost(client, model string, u work.Usage) int64 {
	if u.Cost >= 0 {
		return u.Cost
	}
	price, ok := p.find(model)
	if !ok && model == "" {
		price, ok = p.find(client)
	}
	if !ok {
		return work.UnknownCost
	}
	or := func(v *float64) float64 {
		if v == nil {
			return price.Input
		}
		return *v
	}
	return int64(math.Round(float64(u.Input)*price.Input + float64(u.Cached)*or(price.Cached) +
		float64(u.Written)*or(price.Written) + float64(u.Output)*price.Output))
}
