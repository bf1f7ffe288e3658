// Package figures is what the simulations share: Each makes their runs, and Write puts
// what they measured into a page of docs that is otherwise written by hand.
//
// It refuses a page without a place for figures, and changes nothing outside of it.
package figures
