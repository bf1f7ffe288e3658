// Package embeddingtest is a stand-in for an embedding server: HTTP on loopback, and
// vectors that follow from the words alone. Texts that share words, or words
// declared the same, lie close. It says nothing about how well a model finds.
package embeddingtest
