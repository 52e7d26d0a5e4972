// Package recipes trains the networks. A recipe is a struct of data and options; its method Run
// trains the network and writes the model file. NETWORK.go holds a recipe, and NETWORK_PART.go its
// parts.
//
// # The quadruped, from data to model file
//
// Read the training of [MANN] in this order:
//
//  1. Data: dataset.BuildMANN reads recordings into rows of inputs and outputs, (rows, columns).
//  2. Features: feature.MANN names the columns; the runtime reads the same schema.
//  3. Windows: mann_rollout.go finds runs of consecutive rows. A window of Ticks rows is a sample.
//  4. Network: mann_net.go has the parameters, the forward pass and the tensors of a model file.
//  5. Loss: mann_rollout.go lets the network run on its own poses in a window and compares them with
//     the recorded ones. mann_steer.go makes the next input as the controller does. mann_losses.go adds
//     terms for the pose's change, sliding paws and bending legs. mann_recovery.go lets windows begin
//     with faulty poses.
//  6. Training step: package train draws the samples of a step, clips gradients and updates weights
//     (step.go, update.go, optimizer.go, schedule.go). mann.go sets its Job.
//  7. Evaluation: package train computes the held-out loss after every epoch and keeps the best weights
//     (run.go).
//  8. Checkpoint: package train writes and resumes it (checkpoint.go). The key, which MANN.recipe
//     returns, names all options that shape the result.
//  9. Model file: MANN.model in mann.go, with the model card of card.go and cards/mann.md.tmpl.
//
// # The networks of people
//
// They share the options of [Training] (training.go), batches of windows of recordings (windows.go)
// and convolutions over time (conv.go). Their data is a dataset.MotionSet with the columns of
// feature.Human; a sample is one window. Steps 6 to 9 are the same, in Training.train.
//
//   - [Manifold]: the motion manifold (manifold.go)
//   - [Synth]: motion from a curve, hands or feet, through the manifold (synth.go)
//   - [Footstep]: contacts from the body's motion (footstep.go)
//   - [Keypose]: motion between keys (keypose.go, keys in keypose_keys.go, network in keypose_net.go)
//   - [Sparse]: motion from evenly spaced poses (sparse.go)
//   - [Latent]: a latent space of clips (latent.go, latent_net.go, latent_loss.go), and its components
//     (latent_components.go)
//   - [Next]: the next clip in a latent space (next.go)
//   - [STRNN]: prediction of motion (strnn.go, strnn_net.go, strnn_loss.go, strnn_linear.go)
//   - [Recurrent]: the networks that STRNN is compared with (recurrent.go)
//
// # The networks of a character
//
// [Learned] has the three networks of learned motion matching, which learn a matching.Database: learned.go has their
// trainings and losses, learned_frames.go what they learn from.
package recipes
