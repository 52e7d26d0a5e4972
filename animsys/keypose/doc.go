// Package keypose makes people's motion between keys: poses, or parts of them, at
// chosen times, and where the root is over the ground.
//
// A Track is a motion of which some is keyed. Interpolate fills the rest, and a
// network corrects that, seeing what is keyed, and when: Maker.Fill. The correction
// is made to vanish where a key is (netruntime.Pins), so that keys are met exactly.
// It tells which feet stand, and a Holder holds them there.
//
// A Routine is keys that many people share, who go along them without end in a Stream:
// its windows of motion are made for all whose turn it is at once. Package routines
// writes some.
//
// Sparse is the network that Lüdi 2016 publishes: whole poses at even times, and no
// more, become motion, by convolutions that lengthen. SparseMaker.Make comes near its
// poses, and drifts over the ground.
package keypose
