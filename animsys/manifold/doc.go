// Package manifold makes and edits human motion on the motion manifold of
// Holden, Saito and Komura 2016: the hidden values of an autoencoder over time.
package manifold
