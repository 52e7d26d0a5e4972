// Package matching plays recorded motion by motion matching (Clavet, "Motion Matching and The Road to
// Next-Gen Animation", GDC 2016): several times a second each agent looks for the recorded frame that
// continues its pose and leads where it should go, and plays on from there.
//
//   - [Build] makes a [Database] from clips: poses, motion over the ground, and the features of each frame
//   - [Database.Search] finds the frame nearest to a query, exactly
//   - [Database.NewStream] returns a [Stream], the generator of agents that play the database, steered by
//     control.Goal; with StreamOptions.Nearest a GPU searches, for the same frames
//
// # Features
//
// They are those of Holden, Kanoun, Perepichka and Popa 2020 ("Learned Motion Matching"), for any number of
// legs: the places and velocities of the feet, the velocity of the hips, and where the body will be and face
// after 20, 40 and 60 ticks, all in the space of the root on the ground. Each group has zero mean and one
// deviation for all its values, times a weight: [Weights].
//
// # Steering
//
// A simulated body answers the goal at once along critically damped springs. Its way over the next second
// is the query's. The agent's root moves as the recording does, and is drawn to the simulated body by a share of
// its own motion, so that feet do not slide. The simulated body waits for it: [Tuning].
package matching
