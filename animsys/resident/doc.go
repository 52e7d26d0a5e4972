// Package resident keeps agents on the GPU: those far away, whose bones only the renderer needs. A tick there is what package animsys does
// with an agent, without reading anything back: goals go up, 32 bytes a dog and 48 a person, and the plan, the networks, the new pose, its
// place on the ground and the matrices for skinning follow in one submission. Where agents are comes back, 32 bytes each.
//
//   - Make a crowd of dogs: [New]; of people and animals of learned motion matching: [NewLearned]; [Options]
//   - Agents come and go: [Crowd.Add], [Crowd.Remove]
//   - Say what they do, and take a tick: [Crowd.SetGoal], [Crowd.Step]
//   - Where they are: [Crowd.Root]
//   - Bones of those whose gameplay needs them: [Crowd.Bones]
//   - Take an agent over from an animsys.Crowd that comes too far, and give it back: [Crowd.Adopt], [Crowd.Save]; on the other side
//     animsys.Crowd.SaveMotion and SpawnSaved
//   - Draw: [Crowd.Matrices], [Crowd.Hips]; vertices, for those who want them: [Crowd.NewMesh], [Crowd.Skin]
//   - Live in the OpenGL of a scene, which draws them: [Options]
//
// An agent here has the motion of mann.Controller or of matching.LearnedStream, and the ground of ik.Legged without memory: no foot lock, no
// leaning, no easing over time. Jumps of learned motion matching are inertialized. Paths, walls, clips and characters with their own bones are
// not here.
//
// Without the build tag webgpu, without a GPU, and after the GPU was lost, the processor does the same. Nothing is lost with the GPU: see
// [Options].
package resident
