package main

/*
#define MQ_NO_PROTOTYPES
#include "mannequin.h"
*/
import "C"

import (
	"unsafe"

	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

// All functions of mannequin.h except mqGetLastError, which is in glue.c.

//export mqGetVersion
func mqGetVersion() C.mqVersion { return v[C.mqVersion](current) }

//export mqGetSpace
func mqGetSpace(engine C.int32_t) C.mqSpace { return v[C.mqSpace](spaceOf(int32(engine))) }

//export mqDefaultWorldDef
func mqDefaultWorldDef() C.mqWorldDef { return v[C.mqWorldDef](defaultWorldDef()) }

//export mqDefaultCrowdDef
func mqDefaultCrowdDef() C.mqCrowdDef { return v[C.mqCrowdDef](defaultCrowdDef()) }

//export mqDefaultAgentDef
func mqDefaultAgentDef() C.mqAgentDef { return v[C.mqAgentDef](defaultAgentDef()) }

//export mqDefaultClipDef
func mqDefaultClipDef() C.mqClipDef { return v[C.mqClipDef](defaultClipDef()) }

//export mqDefaultPlayDef
func mqDefaultPlayDef() C.mqPlayDef { return v[C.mqPlayDef](defaultPlayDef()) }

//export mqDefaultBoneLayout
func mqDefaultBoneLayout() C.mqBoneLayout { return v[C.mqBoneLayout](defaultBoneLayout()) }

//export mqDefaultLODPolicy
func mqDefaultLODPolicy() C.mqLODPolicy { return v[C.mqLODPolicy](defaultLODPolicy()) }

//export mqCreateModel
func mqCreateModel(bytes unsafe.Pointer, size C.size_t, model *C.mqModelId) C.mqResult {
	return C.mqResult(do(func() error { return createModel(bytes, uint64(size), ids(model)) }))
}

//export mqDestroyModel
func mqDestroyModel(model C.mqModelId) C.mqResult {
	return C.mqResult(do(func() error { return api.DestroyModel(id(model)) }))
}

//export mqModel_GetInfo
func mqModel_GetInfo(model C.mqModelId, info *C.mqModelInfo) C.mqResult {
	return C.mqResult(do(func() error { return getInfo(id(model), p[modelInfo](info)) }))
}

//export mqModel_GetJoint
func mqModel_GetJoint(model C.mqModelId, index C.int32_t, space *C.mqSpace, joint *C.mqJoint) C.mqResult {
	return C.mqResult(do(func() error { return getJoint(id(model), int32(index), p[api.Space](space), p[jointInfo](joint)) }))
}

//export mqModel_FindJoint
func mqModel_FindJoint(model C.mqModelId, name *C.char, index *C.int32_t) C.mqResult {
	return C.mqResult(do(func() error { return find(id(model), p[byte](name), p[int32](index), (*api.Model).FindJoint) }))
}

//export mqModel_FindAction
func mqModel_FindAction(model C.mqModelId, name *C.char, action *C.int32_t) C.mqResult {
	return C.mqResult(do(func() error { return find(id(model), p[byte](name), p[int32](action), (*api.Model).FindAction) }))
}

//export mqCreateClip
func mqCreateClip(model C.mqModelId, def *C.mqClipDef, clip *C.mqClipId) C.mqResult {
	return C.mqResult(do(func() error { return createClip(id(model), p[clipDef](def), ids(clip)) }))
}

//export mqDestroyClip
func mqDestroyClip(clip C.mqClipId) C.mqResult {
	return C.mqResult(do(func() error { return api.DestroyClip(id(clip)) }))
}

//export mqClip_GetSeconds
func mqClip_GetSeconds(clip C.mqClipId, loop C.int32_t, seconds *C.double) C.mqResult {
	return C.mqResult(do(func() error { return getSeconds(id(clip), int32(loop), p[float64](seconds)) }))
}

//export mqCreateWorld
func mqCreateWorld(def *C.mqWorldDef, world *C.mqWorldId) C.mqResult {
	return C.mqResult(do(func() error { return createWorld(p[worldDef](def), ids(world)) }))
}

//export mqDestroyWorld
func mqDestroyWorld(world C.mqWorldId) C.mqResult {
	return C.mqResult(do(func() error { return api.DestroyWorld(id(world)) }))
}

//export mqWorld_Tick
func mqWorld_Tick(world C.mqWorldId) C.mqResult {
	return C.mqResult(do(func() error { return api.Tick(id(world)) }))
}

//export mqWorld_Step
func mqWorld_Step(world C.mqWorldId, seconds C.double, ticks *C.int32_t, alpha *C.float) C.mqResult {
	return C.mqResult(do(func() error { return step(id(world), float64(seconds), p[int32](ticks), p[float32](alpha)) }))
}

//export mqWorld_SetGroundLevel
func mqWorld_SetGroundLevel(world C.mqWorldId, height C.float) C.mqResult {
	return C.mqResult(do(func() error { return api.SetGroundLevel(id(world), float32(height)) }))
}

//export mqWorld_SetGroundMesh
func mqWorld_SetGroundMesh(world C.mqWorldId, vertices *C.mqVec3, vertexCount C.int32_t, indices *C.int32_t, indexCount C.int32_t) C.mqResult {
	return C.mqResult(do(func() error {
		return setGroundMesh(id(world), p[m3.Vec3](vertices), int32(vertexCount), p[int32](indices), int32(indexCount))
	}))
}

//export mqWorld_SetGroundCallback
func mqWorld_SetGroundCallback(world C.mqWorldId, ground *C.mqGroundFcn, context C.uintptr_t) C.mqResult {
	return C.mqResult(do(func() error { return api.SetGroundFunc(id(world), groundOf(ground, context)) }))
}

//export mqWorld_SetObstacles
func mqWorld_SetObstacles(world C.mqWorldId, obstacles *C.mqObstacle, count C.int32_t) C.mqResult {
	return C.mqResult(do(func() error { return setObstacles(id(world), p[api.Obstacle](obstacles), int32(count)) }))
}

//export mqWorld_SetMoveCallback
func mqWorld_SetMoveCallback(world C.mqWorldId, move *C.mqMoveFcn, context C.uintptr_t) C.mqResult {
	return C.mqResult(do(func() error { return api.SetMove(id(world), moveOf(move, context)) }))
}

//export mqWorld_ShiftOrigin
func mqWorld_ShiftOrigin(world C.mqWorldId, by C.mqVec3) C.mqResult {
	return C.mqResult(do(func() error { return api.ShiftOrigin(id(world), vec(by)) }))
}

//export mqWorld_Save
func mqWorld_Save(world C.mqWorldId, bytes unsafe.Pointer, capacity C.size_t, size *C.size_t) C.mqResult {
	return C.mqResult(do(func() error { return save(id(world), bytes, uint64(capacity), p[length](size)) }))
}

//export mqWorld_Restore
func mqWorld_Restore(world C.mqWorldId, bytes unsafe.Pointer, size C.size_t) C.mqResult {
	return C.mqResult(do(func() error { return restore(id(world), bytes, uint64(size)) }))
}

//export mqCreateCrowd
func mqCreateCrowd(world C.mqWorldId, def *C.mqCrowdDef, crowd *C.mqCrowdId) C.mqResult {
	return C.mqResult(do(func() error { return createCrowd(id(world), p[crowdDef](def), ids(crowd)) }))
}

//export mqDestroyCrowd
func mqDestroyCrowd(crowd C.mqCrowdId) C.mqResult {
	return C.mqResult(do(func() error { return api.DestroyCrowd(id(crowd)) }))
}

//export mqCrowd_GetAgents
func mqCrowd_GetAgents(crowd C.mqCrowdId, agents *C.mqAgentId, capacity C.int32_t, count *C.int32_t) C.mqResult {
	return C.mqResult(do(func() error { return getAgents(id(crowd), ids(agents), int32(capacity), p[int32](count)) }))
}

//export mqCrowd_SetGoals
func mqCrowd_SetGoals(crowd C.mqCrowdId, goals *C.mqGoal, count, stride C.int32_t) C.mqResult {
	return C.mqResult(do(func() error { return setGoals(id(crowd), p[api.Goal](goals), int32(count), int32(stride)) }))
}

//export mqCrowd_GetBones
func mqCrowd_GetBones(crowd C.mqCrowdId, layout *C.mqBoneLayout, alpha C.float, bones unsafe.Pointer, size C.size_t, agents *C.int32_t) C.mqResult {
	return C.mqResult(do(func() error {
		return getBones(id(crowd), p[boneLayout](layout), float32(alpha), bones, uint64(size), p[int32](agents))
	}))
}

//export mqCrowd_GetRoots
func mqCrowd_GetRoots(crowd C.mqCrowdId, alpha C.float, roots *C.mqRoot, stride, capacity C.int32_t, count *C.int32_t) C.mqResult {
	return C.mqResult(do(func() error {
		return getRoots(id(crowd), float32(alpha), p[api.Root](roots), int32(stride), int32(capacity), p[int32](count))
	}))
}

//export mqCrowd_GetEvents
func mqCrowd_GetEvents(crowd C.mqCrowdId, events *C.mqEvent, capacity C.int32_t, count *C.int32_t) C.mqResult {
	return C.mqResult(do(func() error { return getEvents(id(crowd), p[api.Event](events), int32(capacity), p[int32](count)) }))
}

//export mqCrowd_ApplyLOD
func mqCrowd_ApplyLOD(crowd C.mqCrowdId, policy *C.mqLODPolicy, eye, ahead C.mqVec3, saving C.float) C.mqResult {
	return C.mqResult(do(func() error { return applyLOD(id(crowd), p[lodPolicy](policy), vec(eye), vec(ahead), float32(saving)) }))
}

//export mqCrowd_GetHash
func mqCrowd_GetHash(crowd C.mqCrowdId, hash *C.uint64_t) C.mqResult {
	return C.mqResult(do(func() error { return getHash(id(crowd), p[uint64](hash)) }))
}

//export mqCreateAgent
func mqCreateAgent(crowd C.mqCrowdId, def *C.mqAgentDef, agent *C.mqAgentId) C.mqResult {
	return C.mqResult(do(func() error { return createAgent(id(crowd), p[agentDef](def), ids(agent)) }))
}

//export mqDestroyAgent
func mqDestroyAgent(agent C.mqAgentId) C.mqResult {
	return C.mqResult(do(func() error { return api.DestroyAgent(id(agent)) }))
}

//export mqAgent_GetRow
func mqAgent_GetRow(agent C.mqAgentId, row *C.int32_t) C.mqResult {
	return C.mqResult(do(func() error { return getRow(id(agent), p[int32](row)) }))
}

//export mqAgent_SetGoal
func mqAgent_SetGoal(agent C.mqAgentId, goal *C.mqGoal) C.mqResult {
	return C.mqResult(do(func() error { return setGoal(id(agent), p[api.Goal](goal)) }))
}

//export mqAgent_SetPlace
func mqAgent_SetPlace(agent C.mqAgentId, position C.mqVec3, heading C.float) C.mqResult {
	return C.mqResult(do(func() error { return api.SetPlace(id(agent), vec(position), float32(heading)) }))
}

//export mqAgent_Nudge
func mqAgent_Nudge(agent C.mqAgentId, by C.mqVec3) C.mqResult {
	return C.mqResult(do(func() error { return api.Nudge(id(agent), vec(by)) }))
}

//export mqAgent_SetUpdateRate
func mqAgent_SetUpdateRate(agent C.mqAgentId, rate C.int32_t) C.mqResult {
	return C.mqResult(do(func() error { return api.SetUpdateRate(id(agent), int32(rate)) }))
}

//export mqAgent_SetLookAt
func mqAgent_SetLookAt(agent C.mqAgentId, target C.mqVec3, weight C.float) C.mqResult {
	return C.mqResult(do(func() error { return api.SetLookAt(id(agent), vec(target), float32(weight)) }))
}

//export mqAgent_SetHand
func mqAgent_SetHand(agent C.mqAgentId, side C.int32_t, target C.mqVec3, weight, seconds C.float) C.mqResult {
	return C.mqResult(do(func() error {
		return api.SetHand(id(agent), int32(side), vec(target), float32(weight), float32(seconds))
	}))
}

//export mqAgent_PlayClip
func mqAgent_PlayClip(agent C.mqAgentId, clip C.mqClipId, def *C.mqPlayDef) C.mqResult {
	return C.mqResult(do(func() error { return playClip(id(agent), id(clip), p[playDef](def)) }))
}

//export mqAgent_StopClip
func mqAgent_StopClip(agent C.mqAgentId, layer C.int32_t, seconds C.float) C.mqResult {
	return C.mqResult(do(func() error { return api.StopClip(id(agent), int32(layer), float32(seconds)) }))
}

//export mqAgent_SetLayer
func mqAgent_SetLayer(agent C.mqAgentId, layer C.int32_t, weight, speed C.float) C.mqResult {
	return C.mqResult(do(func() error { return api.SetLayer(id(agent), int32(layer), float32(weight), float32(speed)) }))
}

//export mqAgent_GetClip
func mqAgent_GetClip(agent C.mqAgentId, layer C.int32_t, clip *C.mqClipId, seconds *C.double) C.mqResult {
	return C.mqResult(do(func() error { return getClip(id(agent), int32(layer), ids(clip), p[float64](seconds)) }))
}
