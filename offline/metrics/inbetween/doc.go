// Package inbetween measures motion that is made between keys (Lüdi 2016, sec. 5.1),
// beside the recordings that the keys were taken from, and beside interpolation.
//
// Even keys a recording at even times, Transitions as in the protocol of LAFAN1
// (Harvey et al. 2020, sec. 5): ten frames, and one some frames later.
package inbetween
