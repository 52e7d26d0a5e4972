package main

import (
	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

// The functions of mannequin.h as C's compilers for wasm32 call them: a struct is passed by its address, and a struct that is
// returned is written to the address that comes first.

//go:wasmexport mqGetVersion
func mqGetVersion(result uint32) { put(result, current) }

//go:wasmexport mqGetLastError
func mqGetLastError(text uint32, capacity int32) int32 {
	return getLastError(ptr[byte]{text}, capacity)
}

//go:wasmexport mqGetSpace
func mqGetSpace(result uint32, engine int32) { put(result, spaceOf(engine)) }

//go:wasmexport mqDefaultWorldDef
func mqDefaultWorldDef(result uint32) { put(result, defaultWorldDef()) }

//go:wasmexport mqDefaultCrowdDef
func mqDefaultCrowdDef(result uint32) { put(result, defaultCrowdDef()) }

//go:wasmexport mqDefaultAgentDef
func mqDefaultAgentDef(result uint32) { put(result, defaultAgentDef()) }

//go:wasmexport mqDefaultClipDef
func mqDefaultClipDef(result uint32) { put(result, defaultClipDef()) }

//go:wasmexport mqDefaultPlayDef
func mqDefaultPlayDef(result uint32) { put(result, defaultPlayDef()) }

//go:wasmexport mqDefaultBoneLayout
func mqDefaultBoneLayout(result uint32) { put(result, defaultBoneLayout()) }

//go:wasmexport mqDefaultLODPolicy
func mqDefaultLODPolicy(result uint32) { put(result, defaultLODPolicy()) }

//go:wasmexport mqCreateModel
func mqCreateModel(bytes, size, model uint32) int32 {
	return do(func() error { return createModel(bytes, uint64(size), ptr[api.ID]{model}) })
}

//go:wasmexport mqDestroyModel
func mqDestroyModel(model uint32) int32 {
	return do(func() error { return api.DestroyModel(id(model)) })
}

//go:wasmexport mqModel_GetInfo
func mqModel_GetInfo(model, info uint32) int32 {
	return do(func() error { return getInfo(id(model), ptr[modelInfo]{info}) })
}

//go:wasmexport mqModel_GetJoint
func mqModel_GetJoint(model uint32, index int32, space, joint uint32) int32 {
	return do(func() error { return getJoint(id(model), index, ptr[api.Space]{space}, ptr[jointInfo]{joint}) })
}

//go:wasmexport mqModel_FindJoint
func mqModel_FindJoint(model, name, index uint32) int32 {
	return do(func() error { return find(id(model), ptr[byte]{name}, ptr[int32]{index}, (*api.Model).FindJoint) })
}

//go:wasmexport mqModel_FindAction
func mqModel_FindAction(model, name, action uint32) int32 {
	return do(func() error { return find(id(model), ptr[byte]{name}, ptr[int32]{action}, (*api.Model).FindAction) })
}

//go:wasmexport mqCreateClip
func mqCreateClip(model, def, clip uint32) int32 {
	return do(func() error { return createClip(id(model), ptr[clipDef]{def}, ptr[api.ID]{clip}) })
}

//go:wasmexport mqDestroyClip
func mqDestroyClip(clip uint32) int32 {
	return do(func() error { return api.DestroyClip(id(clip)) })
}

//go:wasmexport mqClip_GetSeconds
func mqClip_GetSeconds(clip uint32, loop int32, seconds uint32) int32 {
	return do(func() error { return getSeconds(id(clip), loop, ptr[float64]{seconds}) })
}

//go:wasmexport mqCreateWorld
func mqCreateWorld(def, world uint32) int32 {
	return do(func() error { return createWorld(ptr[worldDef]{def}, ptr[api.ID]{world}) })
}

//go:wasmexport mqDestroyWorld
func mqDestroyWorld(world uint32) int32 {
	return do(func() error { return api.DestroyWorld(id(world)) })
}

//go:wasmexport mqWorld_Tick
func mqWorld_Tick(world uint32) int32 {
	return do(func() error { return api.Tick(id(world)) })
}

//go:wasmexport mqWorld_Step
func mqWorld_Step(world uint32, seconds float64, ticks, alpha uint32) int32 {
	return do(func() error { return step(id(world), seconds, ptr[int32]{ticks}, ptr[float32]{alpha}) })
}

//go:wasmexport mqWorld_SetGroundLevel
func mqWorld_SetGroundLevel(world uint32, height float32) int32 {
	return do(func() error { return api.SetGroundLevel(id(world), height) })
}

//go:wasmexport mqWorld_SetGroundMesh
func mqWorld_SetGroundMesh(world, vertices uint32, vertexCount int32, indices uint32, indexCount int32) int32 {
	return do(func() error {
		return setGroundMesh(id(world), ptr[m3.Vec3]{vertices}, vertexCount, ptr[int32]{indices}, indexCount)
	})
}

//go:wasmexport mqWorld_SetGroundCallback
func mqWorld_SetGroundCallback(world, ground, context uint32) int32 {
	return do(func() error { return api.SetGroundFunc(id(world), groundOf(ground, context)) })
}

//go:wasmexport mqWorld_SetObstacles
func mqWorld_SetObstacles(world, obstacles uint32, count int32) int32 {
	return do(func() error { return setObstacles(id(world), ptr[api.Obstacle]{obstacles}, count) })
}

//go:wasmexport mqWorld_SetMoveCallback
func mqWorld_SetMoveCallback(world, move, context uint32) int32 {
	return do(func() error { return api.SetMove(id(world), moveOf(move, context)) })
}

//go:wasmexport mqWorld_ShiftOrigin
func mqWorld_ShiftOrigin(world, by uint32) int32 {
	return do(func() error { return api.ShiftOrigin(id(world), vec(by)) })
}

//go:wasmexport mqWorld_Save
func mqWorld_Save(world, bytes, capacity, size uint32) int32 {
	return do(func() error { return save(id(world), bytes, uint64(capacity), ptr[length]{size}) })
}

//go:wasmexport mqWorld_Restore
func mqWorld_Restore(world, bytes, size uint32) int32 {
	return do(func() error { return restore(id(world), bytes, uint64(size)) })
}

//go:wasmexport mqCreateCrowd
func mqCreateCrowd(world, def, crowd uint32) int32 {
	return do(func() error { return createCrowd(id(world), ptr[crowdDef]{def}, ptr[api.ID]{crowd}) })
}

//go:wasmexport mqDestroyCrowd
func mqDestroyCrowd(crowd uint32) int32 {
	return do(func() error { return api.DestroyCrowd(id(crowd)) })
}

//go:wasmexport mqCrowd_GetAgents
func mqCrowd_GetAgents(crowd, agents uint32, capacity int32, count uint32) int32 {
	return do(func() error { return getAgents(id(crowd), ptr[api.ID]{agents}, capacity, ptr[int32]{count}) })
}

//go:wasmexport mqCrowd_SetGoals
func mqCrowd_SetGoals(crowd, goals uint32, count, stride int32) int32 {
	return do(func() error { return setGoals(id(crowd), ptr[api.Goal]{goals}, count, stride) })
}

//go:wasmexport mqCrowd_GetBones
func mqCrowd_GetBones(crowd, layout uint32, alpha float32, bones, size, agents uint32) int32 {
	return do(func() error {
		return getBones(id(crowd), ptr[boneLayout]{layout}, alpha, bones, uint64(size), ptr[int32]{agents})
	})
}

//go:wasmexport mqCrowd_GetRoots
func mqCrowd_GetRoots(crowd uint32, alpha float32, roots uint32, stride, capacity int32, count uint32) int32 {
	return do(func() error {
		return getRoots(id(crowd), alpha, ptr[api.Root]{roots}, stride, capacity, ptr[int32]{count})
	})
}

//go:wasmexport mqCrowd_GetEvents
func mqCrowd_GetEvents(crowd, events uint32, capacity int32, count uint32) int32 {
	return do(func() error { return getEvents(id(crowd), ptr[api.Event]{events}, capacity, ptr[int32]{count}) })
}

//go:wasmexport mqCrowd_ApplyLOD
func mqCrowd_ApplyLOD(crowd, policy, eye, ahead uint32, saving float32) int32 {
	return do(func() error { return applyLOD(id(crowd), ptr[lodPolicy]{policy}, vec(eye), vec(ahead), saving) })
}

//go:wasmexport mqCrowd_GetHash
func mqCrowd_GetHash(crowd, hash uint32) int32 {
	return do(func() error { return getHash(id(crowd), ptr[uint64]{hash}) })
}

//go:wasmexport mqCreateAgent
func mqCreateAgent(crowd, def, agent uint32) int32 {
	return do(func() error { return createAgent(id(crowd), ptr[agentDef]{def}, ptr[api.ID]{agent}) })
}

//go:wasmexport mqDestroyAgent
func mqDestroyAgent(agent uint32) int32 {
	return do(func() error { return api.DestroyAgent(id(agent)) })
}

//go:wasmexport mqAgent_GetRow
func mqAgent_GetRow(agent, row uint32) int32 {
	return do(func() error { return getRow(id(agent), ptr[int32]{row}) })
}

//go:wasmexport mqAgent_SetGoal
func mqAgent_SetGoal(agent, goal uint32) int32 {
	return do(func() error { return setGoal(id(agent), ptr[api.Goal]{goal}) })
}

//go:wasmexport mqAgent_SetPlace
func mqAgent_SetPlace(agent, position uint32, heading float32) int32 {
	return do(func() error { return api.SetPlace(id(agent), vec(position), heading) })
}

//go:wasmexport mqAgent_Nudge
func mqAgent_Nudge(agent, by uint32) int32 {
	return do(func() error { return api.Nudge(id(agent), vec(by)) })
}

//go:wasmexport mqAgent_SetUpdateRate
func mqAgent_SetUpdateRate(agent uint32, rate int32) int32 {
	return do(func() error { return api.SetUpdateRate(id(agent), rate) })
}

//go:wasmexport mqAgent_SetLookAt
func mqAgent_SetLookAt(agent, target uint32, weight float32) int32 {
	return do(func() error { return api.SetLookAt(id(agent), vec(target), weight) })
}

//go:wasmexport mqAgent_SetHand
func mqAgent_SetHand(agent uint32, side int32, target uint32, weight, seconds float32) int32 {
	return do(func() error { return api.SetHand(id(agent), side, vec(target), weight, seconds) })
}

//go:wasmexport mqAgent_PlayClip
func mqAgent_PlayClip(agent, clip, def uint32) int32 {
	return do(func() error { return playClip(id(agent), id(clip), ptr[playDef]{def}) })
}

//go:wasmexport mqAgent_StopClip
func mqAgent_StopClip(agent uint32, layer int32, seconds float32) int32 {
	return do(func() error { return api.StopClip(id(agent), layer, seconds) })
}

//go:wasmexport mqAgent_SetLayer
func mqAgent_SetLayer(agent uint32, layer int32, weight, speed float32) int32 {
	return do(func() error { return api.SetLayer(id(agent), layer, weight, speed) })
}

//go:wasmexport mqAgent_GetClip
func mqAgent_GetClip(agent uint32, layer int32, clip, seconds uint32) int32 {
	return do(func() error { return getClip(id(agent), layer, ptr[api.ID]{clip}, ptr[float64]{seconds}) })
}
