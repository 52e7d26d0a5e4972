package main

/*
#define MQ_NO_PROTOTYPES
#include "mannequin.h"
#include "glue.h"
*/
import "C"

import (
	"unsafe"

	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// most bounds the values of an array of the host's that is copied.
const most = 3 * terrain.MaxTriangles

//export mqDefaultWorldDef
func mqDefaultWorldDef() C.mqWorldDef {
	return C.mqWorldDef{cookie: cookie[C.mqWorldDef](), space: mqGetSpace(C.mq_engineNone), maxTicks: 8}
}

//export mqCreateWorld
func mqCreateWorld(d *C.mqWorldDef, world *C.mqWorldId) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		w, err := api.CreateWorld(api.WorldOptions{Space: space(d.space), GroundHeight: float32(d.groundHeight), MaxTicks: int(d.maxTicks)})
		if err == nil {
			set(world, w)
		}
		return err
	}, def("the definition", d), to("world", world))
}

//export mqDestroyWorld
func mqDestroyWorld(world C.mqWorldId) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.DestroyWorld(id(world)))
}

//export mqWorld_Tick
func mqWorld_Tick(world C.mqWorldId) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.Tick(id(world)))
}

//export mqWorld_Step
func mqWorld_Step(world C.mqWorldId, seconds C.double, ticks *C.int32_t, alpha *C.float) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		n, a, err := api.Step(id(world), float64(seconds))
		if ticks != nil {
			*ticks = C.int32_t(n)
		}
		if alpha != nil && err == nil {
			*alpha = C.float(a)
		}
		return err
	}, optional("ticks", ticks), optional("alpha", alpha))
}

//export mqWorld_SetGroundLevel
func mqWorld_SetGroundLevel(world C.mqWorldId, height C.float) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.SetGroundLevel(id(world), float32(height)))
}

//export mqWorld_SetGroundMesh
func mqWorld_SetGroundMesh(world C.mqWorldId, vertices *C.mqVec3, vertexCount C.int32_t, indices *C.int32_t, indexCount C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	var ofVertices, ofIndices C.int32_t
	return checked(func() error {
		if vertexCount > most || indexCount > most {
			return api.Errorf(api.Argument, "a mesh of %d vertices and %d indices: at most %d are allowed", vertexCount, indexCount, most)
		}
		own := make([]m3.Vec3, vertexCount)
		for i := range own {
			own[i] = vec(*at(vertices, i, ofVertices))
		}
		return api.SetGroundMesh(id(world), own, unsafe.Slice((*int32)(indices), indexCount))
	}, list("vertices", vertices, vertexCount, &ofVertices), list("indices", indices, indexCount, &ofIndices))
}

//export mqWorld_SetGroundCallback
func mqWorld_SetGroundCallback(world C.mqWorldId, ground *C.mqGroundFcn, context C.uintptr_t) (r C.mqResult) {
	defer guard(&r, faults())
	if ground == nil {
		return failed(api.Errorf(api.Null, "ground is null"))
	}
	return failed(api.SetGroundFunc(id(world), func(at m3.Vec3) (point, normal m3.Vec3) {
		hit := C.mqCallGround(ground, C.mqGroundQuery{position: cvec(at)}, context)
		return vec(hit.position), vec(hit.normal)
	}))
}

//export mqWorld_SetMoveCallback
func mqWorld_SetMoveCallback(world C.mqWorldId, move *C.mqMoveFcn, context C.uintptr_t) (r C.mqResult) {
	defer guard(&r, faults())
	if move == nil {
		return failed(api.SetMove(id(world), nil))
	}
	return failed(api.SetMove(id(world), func(crowd api.ID, moves []api.Move) {
		var of C.mqCrowdId
		set(&of, crowd)
		C.mqCallMove(move, of, (*C.mqMove)(unsafe.Pointer(unsafe.SliceData(moves))), C.int32_t(len(moves)), context)
	}))
}

//export mqWorld_SetObstacles
func mqWorld_SetObstacles(world C.mqWorldId, obstacles *C.mqObstacle, count C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	var stride C.int32_t
	return checked(func() error {
		if count > most {
			return api.Errorf(api.Argument, "%d obstacles: at most %d are allowed", count, most)
		}
		own := make([]api.Obstacle, count)
		for i := range own {
			o := at(obstacles, i, stride)
			own[i] = api.Obstacle{At: vec(o.position), Heading: float32(o.heading), Width: float32(o.width), Depth: float32(o.depth),
				Rounding: float32(o.rounding), Low: float32(o.low), High: float32(o.high)}
		}
		return api.SetObstacles(id(world), own)
	}, list("obstacles", obstacles, count, &stride))
}

//export mqWorld_ShiftOrigin
func mqWorld_ShiftOrigin(world C.mqWorldId, by C.mqVec3) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.ShiftOrigin(id(world), vec(by)))
}

//export mqWorld_Save
func mqWorld_Save(world C.mqWorldId, bytes unsafe.Pointer, capacity C.size_t, size *C.size_t) (r C.mqResult) {
	defer guard(&r, faults())
	dst, err := memory("bytes", bytes, capacity)
	return checked(func() error {
		n, err := api.Save(id(world), dst)
		if api.CodeOf(err) == api.OK || api.CodeOf(err) == api.Size {
			*size = C.size_t(n)
		}
		return err
	}, err, to("size", size))
}

//export mqWorld_Restore
func mqWorld_Restore(world C.mqWorldId, bytes unsafe.Pointer, size C.size_t) (r C.mqResult) {
	defer guard(&r, faults())
	src, err := memory("bytes", bytes, size)
	return checked(func() error { return api.Restore(id(world), src) }, err)
}
