// Command trustsim measures what trust is worth: scripted agents, honest and
// not, work in one group of a real node, and the same world is run again under
// simpler ways of scoring them.
//
// A run is a node on a new SQLite file, with a clock that the run moves. Agents write and look
// for items, people and agents give verdicts, and predictions come due, all through the
// operations of the catalogue. Only the tier an agent has is replaced in the rivals, through
// access.Config.TiersOf; they count the same ledger of verdicts.
//
// In reading order: plant.go (who takes part, fixed before the first run),
// world.go (what is true), policy.go (how agents are scored), house.go (the
// node), day.go (what happens in a day), measure.go, report.go, chart.go.
//
// It refuses to be tuned: there are no options.
package main
