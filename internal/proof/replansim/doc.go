// Command replansim lets policies of replanning solve simulated tasks whose
// solutions it knows, and says what each policy is worth: how many it solves
// within a budget, what it wastes, and how soon it gives up where there is
// nothing to find. The directives of the goal gradient solver are those of
// package pipeline; the planner who follows them, and the world, are simulated.
//
// Plants, planner, budgets, seeds and rivals are constants of this package, fixed
// before the first run.
package main
