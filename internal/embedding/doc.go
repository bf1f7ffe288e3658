// Package embedding asks an OpenAI-compatible server (OpenAI, Ollama, llama.cpp,
// vLLM and others) for the vectors of texts: POST {url}/embeddings.
//
// It refuses plain HTTP to anything but this machine, redirects, answers that
// are too big or of another shape than asked for, and key files others can read.
// The key is sent in the Authorization header to the configured host alone; it
// appears in no error, log or value that can be printed, and neither does
// anything the server wrote, because servers quote keys.
package embedding
