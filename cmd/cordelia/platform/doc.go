// Package platform asks the operating system what each one tells in its own way: the size
// of a terminal and who types into it, whose a file is, what space is left, who holds a
// lock or listens.
//
// What a system does not tell is answered as nothing: no terminal, no holder.
package platform
