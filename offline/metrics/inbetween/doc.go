// Package inbetween measures motion between keys (Lüdi 2016, sec. 5.1), beside the recordings that
// the keys were taken from, and beside interpolation.
//
// [Even] has keys at even times. [Transitions] follows the protocol of LAFAN1 (Harvey et al. 2020,
// sec. 5): ten frames, a gap, and one target frame.
package inbetween
