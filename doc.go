// Package mannequin is the root of a module that animates characters with
// neural networks inside a game's loop, and trains those networks from motion
// capture. It holds no code; a game starts with
//
//   - examples, whole programs to copy,
//   - models/dog-free or models/dog, or netruntime.Open for a model file of your own,
//   - animsys/mann, which turns a network into a controller,
//   - animsys and ecs, the tick: goals in, grounded poses out,
//   - scenes, complete worlds to read and to run headless.
//
// ARCHITECTURE.md has the map; the tools are in cmd/mannequin.
package mannequin
