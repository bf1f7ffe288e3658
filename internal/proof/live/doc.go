// Command live measures with real models what memory and trust are worth: it has
// `cordelia run` mend small repositories, several times, with memory kept from repository to
// repository or not, and with a person's verdict on what was learnt or without, each run
// within the same bound of tokens. Tests that the models never see say whether it is mended.
//
// Nothing is asked of a model unless a person starts it. Its figures are those of whoever ran
// it; it prints its caveats with them.
package main
