// Package cost is what a run takes and may take: prices that the user wrote down, the usage of
// models summed and worded as money, and a budget that ends a run before the next call.
//
// It refuses a file of prices that it cannot read whole, and guesses no price: what has none is
// unknown.
package cost
