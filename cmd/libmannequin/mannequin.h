// mannequin: crowds of animated characters for games and engines, as a C library.
//
//     mqWorldDef worldDef = mqDefaultWorldDef();
//     mqWorldId world;
//     mqCreateWorld(&worldDef, &world);
//
// Results. Every function that can fail returns an mqResult, 0 (mq_ok) or the reason, and writes what it
// makes through its last pointers. After an error it has changed nothing, unless its comment says
// otherwise. mqGetLastError has the text of the calling thread's last error.
//
// Ids are small structs with an index and a generation. Id 0 is null. An id of something that has been
// destroyed is refused with mq_errorId; a new object never has the id of an old one.
//
// Definitions are plain structs. Get one from its mqDefault function, change fields and pass it: a
// definition whose cookie is missing was not made so, or by another version, and is refused.
//
// Memory. The library copies what it is given before a call returns, and writes only into the caller's
// memory. Nothing that it returns has to be freed. Bytes that it is given may be freed after the call.
//
// Threads. Any thread may call. A world and all that belongs to it is for one thread at a time: if two
// threads call for the same world at once, the second gets mq_errorBusy and nothing is done. So does a
// callback that calls for its own world. Different worlds run in parallel. Models and clips are
// immutable, and shared by all worlds and threads. The library has worker threads of its own; they call
// nothing of the host but ground callbacks, and not even these if mqCrowdDef.workers is 1.
//
// Processes. The library never exits the process and prints nothing. It keeps the signal handlers that
// it finds and passes on signals that are not its own. A host that installs handlers of its own later
// sets SA_ONSTACK in their flags. The library cannot be unloaded: do not call dlclose. A process that
// has loaded it may call exec after fork, and nothing else of the library.
//
// Space. An mqSpace says which axes and units the host has. A world's positions, directions, speeds and
// bones are all in its space. A heading is a turn about the up axis, in radians, positive as all turns
// of the space: counterclockwise from above in right-handed spaces, clockwise in left-handed ones. At
// heading 0 an agent faces the forward axis.
//
// WebAssembly. mannequin.wasm exports these functions as C's compilers for wasm32 call them: a struct is
// passed by its address, and one that is returned is written to the address that comes first. Addresses
// lead into memory that mqAllocate has returned; others are errors. There is one thread. A callback is
// any number but 0, by which the host's functions mannequin.ground (ground, query, hit, context) and
// mannequin.move (move, crowd, moves, count, context) know it. They must return.
//
// Strings are UTF-8 of at most 1023 bytes and end with a 0. Flags are int32_t: 0 is no, all else yes. A count, size or stride
// is never negative; strides are in bytes.

#ifndef MANNEQUIN_H
#define MANNEQUIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of this header. A library of the same major version and the same or a later minor one has
// all of it.
#define MQ_VERSION_MAJOR 1
#define MQ_VERSION_MINOR 0
#define MQ_VERSION_REVISION 0

// The ticks of a world in a second.
#define MQ_TICK_RATE 60

// The layers on which clips play on an agent: 0 to MQ_LAYERS - 1.
#define MQ_LAYERS 4

// The largest number of agents of a crowd.
#define MQ_MAX_AGENTS 65536

// The size of names in structs, in bytes, with the 0 at their end. Longer names are cut.
#define MQ_NAME 64

typedef int32_t mqResult;
enum {
	mq_ok = 0,
	mq_errorNull = 1,     // a pointer is null
	mq_errorArgument = 2, // a value is out of its range, not finite, or no UTF-8, or a definition has no cookie
	mq_errorId = 3,       // an id is null, of something that was destroyed, or of another world
	mq_errorSize = 4,     // the caller's memory is too small
	mq_errorBusy = 5,     // another thread is using the world, or this call comes from one of its callbacks
	mq_errorFull = 6,     // there is no room: a crowd's capacity, or the number of objects of a kind
	mq_errorFile = 7,     // bytes cannot be used: damaged, of another version, or of another kind
	mq_errorRefused = 8,  // the world cannot do it now; the text says why
	mq_errorInternal = 9  // a mistake in the library: the text is for a report, and the world may be of no use any more
};

// Ids.

typedef struct mqModelId { uint32_t index1, generation; } mqModelId; // what moves, from a file
typedef struct mqClipId { uint32_t index1, generation; } mqClipId;   // an animation of the game's
typedef struct mqWorldId { uint32_t index1, generation; } mqWorldId;
typedef struct mqCrowdId { uint32_t index1, generation; } mqCrowdId; // agents of one model in a world
typedef struct mqAgentId { uint32_t index1, generation; } mqAgentId; // one of a crowd

// Whether an id is null. Null ids are { 0 }.
#define MQ_IS_NULL(id) ((id).index1 == 0)

// Numbers.

typedef struct mqVec3 { float x, y, z; } mqVec3;
typedef struct mqQuat { float x, y, z, w; } mqQuat;
typedef struct mqVersion { int32_t major, minor, revision; } mqVersion;

// Axes of an mqSpace. A negative axis points the other way: -mq_axisX is -X.
enum {
	mq_axisX = 1,
	mq_axisY = 2,
	mq_axisZ = 3
};

// Axes and units of the host. The three axes differ; left-handed and right-handed spaces are fine.
typedef struct mqSpace {
	int32_t right;   // the axis to the right of who faces forward
	int32_t up;      // the axis away from the ground
	int32_t forward; // the axis that agents face at heading 0
	float units;     // units of a metre: 1 for metres, 100 for centimetres; 0.001 to 1000
} mqSpace;

// Engines whose space mqGetSpace returns.
enum {
	mq_engineNone = 0,   // the library's own, and glTF's: +X left, +Y up, +Z forward, metres
	mq_engineUnity = 1,  // +X right, +Y up, +Z forward, metres, left-handed
	mq_engineUnreal = 2, // +Y right, +Z up, +X forward, centimetres, left-handed
	mq_engineGodot = 3,  // +X right, +Y up, -Z forward, metres
	mq_engineBlender = 4 // +X right, +Z up, +Y forward, metres; of Blender's Y axis characters face -Y as a rule
};

// Models.

enum {
	mq_modelNetwork = 1,  // a mode-adaptive network of quadrupeds: models/dog-free
	mq_modelCharacter = 2 // a character of `mannequin make`: models/hero, fox, horse, spider, or your own
};

typedef struct mqModelInfo {
	int32_t kind;
	int32_t joints;
	int32_t legs;
	float topSpeed;        // metres a second that its recordings reach; 0 if the file does not say
	char name[MQ_NAME];
	char license[MQ_NAME]; // of the file
} mqModelInfo;

typedef struct mqJoint {
	char name[MQ_NAME];
	int32_t parent; // -1 for the first joint; parents come before their children
	mqVec3 offset;  // from the parent, at rest, when no joint is turned
} mqJoint;

// Clips.

typedef struct mqMarker {
	const char* name; // may be null
	float seconds;    // from the clip's first frame
} mqMarker;

// A clip is made of a file, or of arrays: set bytes or rotations, not both.
typedef struct mqClipDef {
	uint32_t cookie;
	const char* name; // for error texts; may be null

	const void* bytes;     // a .glb or .gltf whose joints have the names and sizes of the model's
	size_t size;           // of bytes
	const char* animation; // of the file; null is the only one, or the first

	const mqQuat* rotations; // (frames, joints) each relative to the parent joint, the first in the space
	const mqVec3* positions; // (frames) of the first joint; the ground is at height 0
	int32_t frames;
	float framesPerSecond;
	mqSpace space; // of rotations and positions

	const mqMarker* markers; // moments that become events; may be null
	int32_t markerCount;
	int32_t reference; // the frame that an additive clip is the difference from
} mqClipDef;

// Joints that a clip plays on.
enum {
	mq_maskAll = 0,
	mq_maskUpperBody = 1, // of people, as mq_maskArms
	mq_maskArms = 2,
	mq_maskHead = 3,
	mq_maskTail = 4,
	mq_maskJoint = 5 // mqPlayDef.maskJoint and all joints below it
};

typedef struct mqPlayDef {
	uint32_t cookie;
	int32_t layer; // 0 to MQ_LAYERS - 1; higher layers lie over lower ones
	int32_t mask;
	int32_t maskJoint;
	int32_t loop;        // until it is stopped
	int32_t hold;        // stays at its last frame until it is stopped
	int32_t additive;    // adds its difference from mqClipDef.reference
	int32_t rootMotion;  // moves the agent
	int32_t ignoreWalls; // root motion goes through obstacles
	float blendIn;       // seconds; negative: at once
	float blendOut;
	float weight; // 0 to 1
	float speed;  // 1 is the clip's own
	float start;  // seconds from the first frame
} mqPlayDef;

// Worlds.

typedef struct mqWorldDef {
	uint32_t cookie;
	mqSpace space;
	float groundHeight; // level ground, until mqWorld_SetGroundMesh or mqWorld_SetGroundCallback
	int32_t maxTicks;   // of one mqWorld_Step: longer times are dropped; 1 to 1000
} mqWorldDef;

// Where the ground is asked for.
typedef struct mqGroundQuery {
	mqVec3 position; // its height is that of the floor on which the agent stood, for ground of several floors; very high for the highest
} mqGroundQuery;

typedef struct mqGroundHit {
	mqVec3 position; // only its height counts
	mqVec3 normal;   // points up; need not be of length 1
} mqGroundHit;

// Writes the ground at a place. It is called many times in a tick, and when agents are made and moved, also by
// worker threads at once, unless mqCrowdDef.workers is 1: then by the thread that calls the library. It must return the same for the same
// place within a tick, and must not call the library for this world. A hit that is not finite is no ground.
typedef void mqGroundFcn(const mqGroundQuery* query, mqGroundHit* hit, void* context);

// A rounded rectangle, seen from above, that agents cannot walk through. A pillar has only rounding.
typedef struct mqObstacle {
	mqVec3 position; // its middle; the height does not count
	float heading;   // of its depth
	float width, depth;
	float rounding;  // by which it is larger on all sides
	float low, high; // it is in the way of agents that stand from low up to high; if both are equal, of all
} mqObstacle;

// How far an agent goes in this tick. Change after, and the agent goes there; its height does not count.
typedef struct mqMove {
	mqAgentId agent;
	mqVec3 before;
	mqVec3 after;
} mqMove;

// Decides how far the agents of a crowd go: for a character controller or a physics engine. It is called
// once a tick for each crowd that has agents, by the thread that ticks, after obstacles have been heeded.
// moves is valid until it returns. It must not call the library for this world.
typedef void mqMoveFcn(mqCrowdId crowd, mqMove* moves, int32_t count, void* context);

// Crowds and agents.

typedef struct mqCrowdDef {
	uint32_t cookie;
	mqModelId model;
	mqModelId every2, every4; // networks for agents that update every second and fourth tick; may be null
	int32_t capacity;         // the largest number of agents, at least 1
	int32_t workers;          // threads that share the work; 0: one for each core in large crowds
} mqCrowdDef;

typedef struct mqAgentDef {
	uint32_t cookie;
	mqVec3 position; // the height chooses the floor if the ground has several
	float heading;
} mqAgentDef;

// Actions of a goal. mqModel_FindAction has those of a character's own, by name.
enum {
	mq_actionIdle = 0, // or move, if the goal asks for motion
	mq_actionMove = 1,
	mq_actionJump = 2,
	mq_actionSit = 3,
	mq_actionLie = 4,
	mq_actionStand = 5 // rear
};

enum {
	mq_goalDirection = 0, // move and face turn with the agent: the forward axis is ahead
	mq_goalStick = 1,     // move and face are directions in the world, as a player's stick and camera ask for
	mq_goalPlace = 2      // goes to place, and stands there
};

// What an agent does, until it gets another goal. A goal of zeros stands still.
typedef struct mqGoal {
	int32_t kind;
	int32_t action;
	mqVec3 move;  // the direction to go; its length, at most 1, scales speed. Of any unit
	mqVec3 face;  // the direction to face, of any length; 0 leaves it to turn, or, for mq_goalStick, to move
	mqVec3 place; // for mq_goalPlace
	float radius; // for mq_goalPlace: how near to it an agent stands, at least 0.1 m
	float speed;  // units a second
	float turn;   // -1 to 1, a share of the largest turn rate, of the sign of a heading
} mqGoal;

// Every how many ticks an agent updates. Its bones are interpolated in between.
enum {
	mq_updateNever = 0,
	mq_updateEveryTick = 1,
	mq_updateEvery2 = 2,
	mq_updateEvery4 = 4
};

enum {
	mq_left = 0,
	mq_right = 1
};

// Results.

enum {
	mq_bonesWorld = 0, // transforms in the world
	mq_bonesRoot = 1,  // relative to the agent's root, see mqRoot
	mq_bonesLocal = 2  // relative to the parent joint, the first joint to the agent's root
};

enum {
	mq_formatTransform = 0, // position and rotation, at offsets
	mq_formatRows3x4 = 1,   // 12 floats, row by row: the axes are columns, the position is the fourth column
	mq_formatRows4x4 = 2,   // 16 floats, row by row, for column vectors
	mq_formatColumns4x4 = 3 // 16 floats, column by column, for column vectors; the same as rows for row vectors
};

// Where the bones of a crowd are written: the bone b of the agent in row r at r * agentStride + b *
// boneStride. Bytes between bones are left as they are.
typedef struct mqBoneLayout {
	uint32_t cookie;
	int32_t relativeTo;
	int32_t format;
	int32_t boneStride;     // 0: without gaps
	int32_t agentStride;    // 0: without gaps
	int32_t positionOffset; // of 3 floats in a bone, for mq_formatTransform; negative: not written
	int32_t rotationOffset; // of 4 floats; negative: not written
	int32_t realFirst;      // rotations are w, x, y, z; otherwise x, y, z, w
} mqBoneLayout;

// Where an agent stands and faces.
typedef struct mqRoot {
	mqAgentId agent;
	mqVec3 position; // on its floor
	float heading;
	mqVec3 moved; // since before the last mqWorld_Tick or mqWorld_Step: root motion, in the world
	float turned; // in the same time
} mqRoot;

enum {
	mq_eventFootDown = 0,   // a foot has touched the ground
	mq_eventFootUp = 1,     // a foot has left it
	mq_eventClipMarker = 2, // a clip has passed a marker
	mq_eventClipEnd = 3,    // a clip that plays once ends, and blends out
	mq_eventHandThere = 4,  // a hand is at its target
	mq_eventFootThere = 5,
	mq_eventHandMissed = 6 // a hand's time is over, and it is not at its target
};

// What happened to an agent.
typedef struct mqEvent {
	mqAgentId agent;
	int32_t kind;
	int32_t tick;  // of the last mqWorld_Step, from 0
	int32_t leg;   // of feet, in the order of the model's legs; of hands: mq_left or mq_right
	int32_t joint;
	int32_t layer;  // of clips
	int32_t marker; // the index in mqClipDef.markers; -1 for other kinds
	mqClipId clip;  // null for other kinds, and for clips that a restored save has brought
	mqVec3 position;
	mqVec3 normal; // of the ground below a foot
	float speed;   // of a foot, units a second
} mqEvent;

// Level of detail by the distance from a camera; 0 is no bound.
typedef struct mqLODPolicy {
	uint32_t cookie;
	float everyTick, every2, every4; // up to these distances; beyond the last, never
	float behind; // out of sight and farther, the next lower rate
	float unseen; // out of sight and farther, never
	float sight;  // cosine of the greatest angle from the camera's direction that is in sight
} mqLODPolicy;

// The prototypes are left out where the functions are written, in another language.
#ifndef MQ_NO_PROTOTYPES

#if defined(_WIN32) && defined(MQ_SHARED)
#define MQ_API __declspec(dllimport)
#else
#define MQ_API
#endif

// The library.

MQ_API mqVersion mqGetVersion(void);

// Writes the text of this thread's last error, cut to capacity bytes with the 0 at its end, and returns the
// length of the whole text, without the 0. text may be null if capacity is 0.
MQ_API int32_t mqGetLastError(char* text, int32_t capacity);

// Returns the space of an mq_engine constant; that of mq_engineNone for others.
MQ_API mqSpace mqGetSpace(int32_t engine);

MQ_API mqWorldDef mqDefaultWorldDef(void);
MQ_API mqCrowdDef mqDefaultCrowdDef(void);
MQ_API mqAgentDef mqDefaultAgentDef(void);
MQ_API mqClipDef mqDefaultClipDef(void);
MQ_API mqPlayDef mqDefaultPlayDef(void);
MQ_API mqBoneLayout mqDefaultBoneLayout(void);
MQ_API mqLODPolicy mqDefaultLODPolicy(void);

// Models.

// Reads a model from the bytes of its file: .safetensors of a network, or .character.
MQ_API mqResult mqCreateModel(const void* bytes, size_t size, mqModelId* model);
// Crowds that have the model keep it.
MQ_API mqResult mqDestroyModel(mqModelId model);
MQ_API mqResult mqModel_GetInfo(mqModelId model, mqModelInfo* info);
// Writes a joint, 0 to mqModelInfo.joints - 1. space is that of the offset; null is the library's own.
MQ_API mqResult mqModel_GetJoint(mqModelId model, int32_t index, const mqSpace* space, mqJoint* joint);
MQ_API mqResult mqModel_FindJoint(mqModelId model, const char* name, int32_t* index);
MQ_API mqResult mqModel_FindAction(mqModelId model, const char* name, int32_t* action);

// Clips.

// Makes a clip for agents of a model, and of others with the same skeleton.
MQ_API mqResult mqCreateClip(mqModelId model, const mqClipDef* def, mqClipId* clip);
// Agents that play it go on.
MQ_API mqResult mqDestroyClip(mqClipId clip);
MQ_API mqResult mqClip_GetSeconds(mqClipId clip, int32_t loop, double* seconds);

// Worlds.

MQ_API mqResult mqCreateWorld(const mqWorldDef* def, mqWorldId* world);
// Destroys a world with its crowds and agents.
MQ_API mqResult mqDestroyWorld(mqWorldId world);
// Moves the world on by 1/60 s.
MQ_API mqResult mqWorld_Tick(mqWorldId world);
// Moves the world on by the time of a frame: by as many ticks as are due. Writes their number, and the time
// since the last as a share of a tick, which is the alpha of mqCrowd_GetBones and mqCrowd_GetRoots. Both
// pointers may be null. After an error, some ticks may have been made.
MQ_API mqResult mqWorld_Step(mqWorldId world, double seconds, int32_t* ticks, float* alpha);
MQ_API mqResult mqWorld_SetGroundLevel(mqWorldId world, float height);
// Copies a mesh of triangles as ground: three indices each. Agents stand on the highest triangle that they
// can step up to. The corners of a triangle that faces up are counterclockwise seen from above in
// right-handed spaces, clockwise in left-handed ones. Triangles that face down or are steeper than 60
// degrees from level are left out. Places without a triangle are no ground.
MQ_API mqResult mqWorld_SetGroundMesh(mqWorldId world, const mqVec3* vertices, int32_t vertexCount, const int32_t* indices, int32_t indexCount);
MQ_API mqResult mqWorld_SetGroundCallback(mqWorldId world, mqGroundFcn* ground, void* context);
// Replaces all obstacles.
MQ_API mqResult mqWorld_SetObstacles(mqWorldId world, const mqObstacle* obstacles, int32_t count);
// A null callback lets agents go where motion takes them.
MQ_API mqResult mqWorld_SetMoveCallback(mqWorldId world, mqMoveFcn* move, void* context);
// Moves the origin to a place of whole metres on the ground plane, for large worlds: what was there is at 0
// from then on. Ground, obstacles and the places of goals are the host's to move.
MQ_API mqResult mqWorld_ShiftOrigin(mqWorldId world, mqVec3 by);
// Writes the state of all crowds into at most capacity bytes, and their number. With mq_errorSize the number
// is what is needed. bytes may be null if capacity is 0. Ground, obstacles, callbacks and the origin are
// the host's to save.
MQ_API mqResult mqWorld_Save(mqWorldId world, void* bytes, size_t capacity, size_t* size);
// Gives the world the agents of a save. The world has as many crowds, made in the same order, with the same
// models and capacities. Agents that are there keep their ids if the save has them; mqCrowd_GetAgents has
// the ids of all.
MQ_API mqResult mqWorld_Restore(mqWorldId world, const void* bytes, size_t size);

// Crowds.

MQ_API mqResult mqCreateCrowd(mqWorldId world, const mqCrowdDef* def, mqCrowdId* crowd);
// Destroys a crowd with its agents.
MQ_API mqResult mqDestroyCrowd(mqCrowdId crowd);
// Writes the ids of the agents by row, at most capacity of them, and the number of all. Rows change when
// agents are destroyed and when a save is restored.
MQ_API mqResult mqCrowd_GetAgents(mqCrowdId crowd, mqAgentId* agents, int32_t capacity, int32_t* count);
// Sets the goals of the agents in rows 0 to count - 1. stride is from one goal to the next; 0: without gaps.
MQ_API mqResult mqCrowd_SetGoals(mqCrowdId crowd, const mqGoal* goals, int32_t count, int32_t stride);
// Writes the bones of all agents, by row, and the number of agents. alpha, 0 to 1, is the way from the tick
// before the last to the last. With mq_errorSize nothing is written but the number.
MQ_API mqResult mqCrowd_GetBones(mqCrowdId crowd, const mqBoneLayout* layout, float alpha, void* bones, size_t size, int32_t* agents);
// Writes the roots of all agents, by row, at most capacity of them, and the number of all. stride is from one
// root to the next; 0: without gaps.
MQ_API mqResult mqCrowd_GetRoots(mqCrowdId crowd, float alpha, mqRoot* roots, int32_t stride, int32_t capacity, int32_t* count);
// Writes what happened in the last mqWorld_Tick or mqWorld_Step, at most capacity events, and the number of
// all. They are in the order of ticks, then of rows.
MQ_API mqResult mqCrowd_GetEvents(mqCrowdId crowd, mqEvent* events, int32_t capacity, int32_t* count);
// Sets the update rates of all agents by their distances from a camera at eye that looks along ahead; an
// ahead of 0 looks everywhere. saving, 0 to 1, shortens the distances.
MQ_API mqResult mqCrowd_ApplyLOD(mqCrowdId crowd, const mqLODPolicy* policy, mqVec3 eye, mqVec3 ahead, float saving);
// Writes a checksum of the state of all agents: runs with equal bits have equal sums.
MQ_API mqResult mqCrowd_GetHash(mqCrowdId crowd, uint64_t* hash);

// Agents.

MQ_API mqResult mqCreateAgent(mqCrowdId crowd, const mqAgentDef* def, mqAgentId* agent);
MQ_API mqResult mqDestroyAgent(mqAgentId agent);
MQ_API mqResult mqAgent_GetRow(mqAgentId agent, int32_t* row);
MQ_API mqResult mqAgent_SetGoal(mqAgentId agent, const mqGoal* goal);
// Moves an agent to a place, at once and without a way.
MQ_API mqResult mqAgent_SetPlace(mqAgentId agent, mqVec3 position, float heading);
// Pushes an agent over the ground. It keeps its velocity.
MQ_API mqResult mqAgent_Nudge(mqAgentId agent, mqVec3 by);
MQ_API mqResult mqAgent_SetUpdateRate(mqAgentId agent, int32_t rate);
// Turns the head toward a place. weight is 0 to 1; 0 lets the head go.
MQ_API mqResult mqAgent_SetLookAt(mqAgentId agent, mqVec3 target, float weight);
// Takes a person's hand to a place, in a time in seconds; 0: eased. weight is 0 to 1; 0 lets the hand go.
MQ_API mqResult mqAgent_SetHand(mqAgentId agent, int32_t side, mqVec3 target, float weight, float seconds);
// Plays a clip from the next tick on. What plays on its layer ends.
MQ_API mqResult mqAgent_PlayClip(mqAgentId agent, mqClipId clip, const mqPlayDef* def);
// Blends out what plays on a layer, in seconds; 0: in the clip's own time; negative: at once.
MQ_API mqResult mqAgent_StopClip(mqAgentId agent, int32_t layer, float seconds);
MQ_API mqResult mqAgent_SetLayer(mqAgentId agent, int32_t layer, float weight, float speed);
// Writes what plays on a layer and its time. The id is null if nothing does, if the clip was destroyed, and
// for clips that a restored save has brought.
MQ_API mqResult mqAgent_GetClip(mqAgentId agent, int32_t layer, mqClipId* clip, double* seconds);

#ifdef __wasm__
// Memory of the module for what the host passes, at least size bytes, aligned to 8; null if size is more than
// 2^30. If there is no more memory, the module ends.
MQ_API void* mqAllocate(size_t size);
MQ_API void mqFree(void* memory);
#endif

#endif // MQ_NO_PROTOTYPES

#ifdef __cplusplus
}
#endif

#endif // MANNEQUIN_H
