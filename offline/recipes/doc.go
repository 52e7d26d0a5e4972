// Package recipes holds one file per trainable network: which data, which
// network, which schedule, and the model file that comes out.
package recipes
