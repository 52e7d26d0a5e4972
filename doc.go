// Package mannequin is the root of a module that animates characters with
// neural networks inside a game's loop, and trains those networks from motion
// capture. It holds no code; a game starts with
//
//   - examples, whole programs to copy,
//   - models/dog-free, models/dog or models/person, or netruntime.Open for a model file of your own,
//   - a generator, which makes motion with it: animsys/mann, matching, manifold, latent, strnn or keypose,
//   - animsys and ecs, the crowd and the tick: controls in, grounded poses out,
//   - scenes, complete worlds to read and to run headless.
//
// ARCHITECTURE.md has the map; the tools are in cmd/mannequin.
package mannequin
