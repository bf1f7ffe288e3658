// Package live measures with real models what memory and trust are worth: it has `cordelia run`
// fix defects in small repositories, several times, with memory kept from repository to
// repository or not, and with a person's verdict on the lessons or without, each run within the
// same bound of tokens. Tests that the models never see decide whether the defect is fixed.
//
// It calls a model only when a person starts it. Its figures hold for that run; it prints its
// caveats with them.
package live
