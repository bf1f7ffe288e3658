// Package embedding keeps the vectors of items up with the items, and finds which lie near a
// query's. It knows no item: memory gives it the texts that may be sent, and checks each item
// that a search found.
//
// model.go asks the model, queue.go makes vectors of items, index.go finds near vectors by
// their signs, vector.go is their arithmetic. The queue is the node's: its functions take a
// grant of the node. A search reads through the transaction of its grant, within the scopes it
// names.
//
// It refuses a model whose vectors have another length than the stored ones, and does not wait
// for a model: a search that gets no vector in time is one by words.
package embedding
