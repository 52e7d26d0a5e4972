// Makes random calls of the library: fuzz DOG HERO SEED CALLS. Ids are of things that are there, that are gone, or made up; pointers are
// good, null, not aligned, or to memory that no process may use; numbers are good, not finite, or far out of range. It ends with
// an error if a call returns what it must not.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mannequin.h"

static uint64_t state;

static uint32_t next(void) {
	state = state * 6364136223846793005u + 1442695040888963407u;
	uint64_t x = state ^ state >> 29;
	return (uint32_t)((x * 0xd6e8feb86659fd93u) >> 32);
}
static uint32_t below(uint32_t n) { return next() % n; }
static int once(uint32_t in) { return below(in) == 0; }

static float number(float scale) {
	static const float odd[] = { NAN, INFINITY, -INFINITY, 0, -0.0f, 1e30f, -1e30f, 1e-40f, 3e38f, 32768 };
	if (once(40))
		return odd[below(sizeof odd / sizeof *odd)];
	return scale * ((float)below(20001) / 10000 - 1);
}
static int32_t integer(int32_t most) {
	static const int32_t odd[] = { -1, INT32_MIN, INT32_MAX, 1 << 24, 65537, -4, 3 };
	return once(30) ? odd[below(sizeof odd / sizeof *odd)] : (int32_t)below((uint32_t)most + 1);
}
static mqVec3 vec(float scale) { return (mqVec3){ number(scale), number(scale), number(scale) }; }

// Ids: of each kind, some that were given out.
typedef struct { uint32_t index1, generation; } anyId;
typedef struct { uint32_t n; anyId ids[12]; } pool;
static pool models = { .n = 4 }, clips = { .n = 4 }, worlds = { .n = 3 }, crowds = { .n = 5 }, agents = { .n = 12 };
static pool* const pools[] = { &models, &clips, &worlds, &crowds, &agents };

static anyId some(pool* p) {
	if (once(25))
		return (anyId){ below(100), next() };
	if (once(25))
		p = pools[below(5)];
	anyId id = p->ids[below(p->n)];
	if (once(60))
		id.generation++;
	return id;
}
static void keep(pool* p, anyId id) {
	anyId* to = &p->ids[below(p->n)];
	if (p == &worlds)
		mqDestroyWorld(*(mqWorldId*)to);
	else if (p == &clips)
		mqDestroyClip(*(mqClipId*)to);
	*to = id;
}
#define ID(type, pool) (*(type*)&(anyId[]){ some(&pool) })
#define KEEP(pool, id) keep(&pool, *(anyId*)&(id))

static unsigned char* forbidden;    // a page that nothing may touch
static unsigned char memory[1 << 16]; // of arrays that are written and read
enum { guardByte = 0x5a };

// A pointer that is good, or not.
static void* bad(void* good) {
	if (!once(25))
		return good;
	switch (below(4)) {
	case 0: return NULL;
	case 1: return forbidden + below(4096);
	case 2: return (void*)(uintptr_t)below(4096);
	}
	return forbidden;
}

static mqSpace space(void) {
	mqSpace s = mqGetSpace(integer(5));
	if (once(10))
		s = (mqSpace){ integer(4) - 2, integer(4), -integer(3), number(200) };
	return s;
}

static mqGoal goal(void) {
	mqGoal g = { integer(2), once(8) ? integer(80) : integer(5), vec(1), vec(1), vec(9), number(2), fabsf(number(4)), number(1) };
	return g;
}

static unsigned char *dog, *hero;
static size_t dogSize, heroSize;

static unsigned char* load(const char* path, size_t* size) {
	FILE* f = fopen(path, "rb");
	if (!f)
		exit(2);
	unsigned char* b = malloc(16 << 20);
	*size = fread(b, 1, 16 << 20, f);
	fclose(f);
	return b;
}

static void fail(const char* what, int32_t r) {
	char text[4096];
	mqGetLastError(text, sizeof text);
	printf("%s returns %d: %s\n", what, r, text);
	exit(1);
}

static float groundAt(const mqVec3* p) { return once(50) ? NAN : 0.1f * sinf(p->x); }
static void ground(const mqGroundQuery* q, mqGroundHit* hit, void* context) {
	hit->position.y = groundAt(&q->position);
	hit->normal = (mqVec3){ 0, 1, 0 };
	if (once(100) && mqWorld_Tick(*(mqWorldId*)context) == mq_ok)
		fail("a tick within a tick", 0);
}
static void move(mqCrowdId crowd, mqMove* moves, int32_t count, void* context) {
	(void)context;
	for (int i = 0; i < count; i++)
		if (once(4))
			moves[i].after = vec(5);
	uint64_t hash;
	if (mqCrowd_GetHash(crowd, &hash) == mq_ok)
		fail("a call for the world within a tick", 0);
}

static int32_t call(void) {
	static mqQuat rotations[64 * 40];
	mqVec3 three[3];
	int32_t i1, i2;
	float f1;
	double d1;
	size_t size;
	switch (below(67)) {
	case 0: { // models are large: seldom
		if (!once(400))
			return mqDestroyClip(ID(mqClipId, clips));
		mqModelId m;
		int cut = once(3), of = below(2);
		unsigned char* b = of ? dog : hero;
		size = of ? dogSize : heroSize;
		if (cut)
			size = below((uint32_t)size);
		unsigned char was = b[size / 2];
		if (once(4))
			b[size / 2] ^= 1 + below(255);
		int32_t r = mqCreateModel(bad(b), size, bad(&m));
		b[size / 2] = was;
		if (r == mq_ok)
			KEEP(models, m);
		return r;
	}
	case 1: return once(600) ? mqDestroyModel(ID(mqModelId, models)) : mq_ok;
	case 2: case 3: {
		mqModelInfo info;
		return mqModel_GetInfo(ID(mqModelId, models), bad(&info));
	}
	case 4: {
		mqJoint joint;
		mqSpace s = space();
		return mqModel_GetJoint(ID(mqModelId, models), integer(31), once(2) ? NULL : bad(&s), bad(&joint));
	}
	case 5: return mqModel_FindJoint(ID(mqModelId, models), bad(once(2) ? (char*)"Head" : once(2) ? (char*)"\xff\xfe" : (char*)memory), bad(&i1));
	case 6: return mqModel_FindAction(ID(mqModelId, models), bad(once(2) ? (char*)"sit" : (char*)""), bad(&i1));
	case 7: {
		mqClipDef d = mqDefaultClipDef();
		mqClipId k;
		mqMarker marks[3] = { { "a", number(1) }, { NULL, 0.1f }, { once(9) ? "\xc3\x28" : "b", 0.2f } };
		for (int i = 0; i < 64 * 40; i++)
			rotations[i] = (mqQuat){ 0, 0, 0, 1 };
		if (once(2))
			rotations[below(400)].w = number(2);
		d.rotations = bad(rotations);
		for (int i = 0; i < 40; i++)
			((mqVec3*)memory)[i] = (mqVec3){ 0, 1, 0.02f * i };
		d.positions = bad(memory);
		d.frames = once(9) ? integer(40) : 20;
		d.framesPerSecond = once(9) ? number(100) : 30;
		d.space = space();
		d.markers = marks;
		d.markerCount = integer(3);
		d.reference = integer(3);
		if (once(9)) {
			d.bytes = bad(memory);
			d.size = below(5000);
			d.rotations = once(2) ? NULL : d.rotations;
		}
		if (once(20))
			d.cookie = next();
		if (d.frames > 40) // it would read beyond our arrays
			d.frames = -1;
		if (d.markerCount > 3)
			d.markerCount = 3000;
		int32_t r = mqCreateClip(ID(mqModelId, models), bad(&d), bad(&k));
		if (r == mq_ok)
			KEEP(clips, k);
		return r;
	}
	case 8: return mqClip_GetSeconds(ID(mqClipId, clips), integer(1), bad(&d1));
	case 9: {
		if (!once(30))
			return mq_ok;
		mqWorldDef d = mqDefaultWorldDef();
		d.space = space();
		d.maxTicks = integer(8);
		if (once(3))
			d.groundHeight = number(3);
		mqWorldId w;
		int32_t r = mqCreateWorld(bad(&d), bad(&w));
		if (r == mq_ok)
			KEEP(worlds, w);
		return r;
	}
	case 10: return once(60) ? mqDestroyWorld(ID(mqWorldId, worlds)) : mq_ok;
	case 11: case 12: case 13: case 14: return mqWorld_Tick(ID(mqWorldId, worlds));
	case 15: case 16: return mqWorld_Step(ID(mqWorldId, worlds), once(50) ? number(1e9f) : fabsf(number(0.03f)), bad(&i1), bad(&f1));
	case 17: return mqWorld_SetGroundLevel(ID(mqWorldId, worlds), number(1));
	case 18:
		for (int i = 0; i < 3; i++)
			three[i] = vec(20);
		for (int i = 0; i < 30; i++)
			((int32_t*)memory)[i] = integer(2);
		i1 = integer(3);
		i2 = integer(30);
		return mqWorld_SetGroundMesh(ID(mqWorldId, worlds), bad(three), i1 > 3 ? -1 : i1, bad(memory), i2 > 30 ? 1 : i2);
	case 19: {
		mqWorldId* of = malloc(sizeof *of); // as long as the world, which may be until the end
		*of = ID(mqWorldId, worlds);
		return mqWorld_SetGroundCallback(*of, once(9) ? NULL : ground, of);
	}
	case 20: return mqWorld_SetMoveCallback(ID(mqWorldId, worlds), once(2) ? NULL : move, (void*)(uintptr_t)below(5000));
	case 21: {
		mqObstacle all[4];
		for (int i = 0; i < 4; i++)
			all[i] = (mqObstacle){ vec(10), number(4), fabsf(number(3)), fabsf(number(3)), fabsf(number(1)), 0, 0 };
		i1 = integer(4);
		return mqWorld_SetObstacles(ID(mqWorldId, worlds), bad(all), i1 > 4 ? -2 : i1);
	}
	case 22: return mqWorld_ShiftOrigin(ID(mqWorldId, worlds), once(2) ? (mqVec3){ (float)integer(20), 0, (float)integer(20) } : vec(20));
	case 23: case 24: { // a save, and another time some save again, damaged or not
		static unsigned char save[1 << 18];
		static size_t saved;
		mqWorldId w = ID(mqWorldId, worlds);
		if (once(2)) {
			size = once(3) ? below(sizeof save) : sizeof save;
			int32_t r = mqWorld_Save(w, bad(save), size, bad(&saved));
			if (r != mq_ok || saved > sizeof save)
				saved = 0;
			return r;
		}
		if (saved && once(8))
			save[below((uint32_t)saved)] ^= 1 + below(255);
		return mqWorld_Restore(w, bad(save), once(9) ? below(sizeof save) : saved);
	}
	case 25: {
		if (!once(6))
			return mq_ok;
		mqCrowdDef d = mqDefaultCrowdDef();
		d.model = ID(mqModelId, models);
		if (once(5))
			d.every2 = ID(mqModelId, models);
		d.capacity = once(10) ? -integer(2) : 1 + (int32_t)below(4);
		d.workers = integer(2);
		if (d.workers > 2)
			d.workers = 5000;
		mqCrowdId c;
		int32_t r = mqCreateCrowd(ID(mqWorldId, worlds), bad(&d), bad(&c));
		if (r == mq_ok)
			KEEP(crowds, c);
		return r;
	}
	case 26: return once(30) ? mqDestroyCrowd(ID(mqCrowdId, crowds)) : mq_ok;
	case 27: case 28: {
		i1 = integer(8);
		return mqCrowd_GetAgents(ID(mqCrowdId, crowds), bad(memory), i1 > 8 ? -1 : i1, bad(&i2));
	}
	case 29: case 30: case 31: {
		mqGoal goals[8];
		for (int i = 0; i < 8; i++)
			goals[i] = goal();
		i1 = integer(4);
		return mqCrowd_SetGoals(ID(mqCrowdId, crowds), bad(goals), i1 > 4 ? -1 : i1, once(2) ? 0 : once(3) ? integer(9) : (int32_t)sizeof *goals);
	}
	case 32: case 33: case 34: case 35: case 36: case 37: {
		mqBoneLayout l = mqDefaultBoneLayout();
		l.relativeTo = integer(2);
		l.format = integer(3);
		if (once(3))
			l.boneStride = integer(100), l.agentStride = integer(5000);
		if (once(3))
			l.positionOffset = integer(40), l.rotationOffset = integer(40);
		l.realFirst = integer(1);
		size = once(4) ? below(sizeof memory - 64) : sizeof memory - 64;
		memset(memory + size, guardByte, 64);
		int32_t r = mqCrowd_GetBones(ID(mqCrowdId, crowds), bad(&l), once(9) ? number(1) : 0.5f, bad(memory), size, bad(&i1));
		for (int i = 0; i < 64; i++)
			if (memory[size + i] != guardByte)
				fail("mqCrowd_GetBones writes beyond its memory and", r);
		return r;
	}
	case 38: case 39: {
		mqRoot roots[8];
		i1 = integer(8);
		return mqCrowd_GetRoots(ID(mqCrowdId, crowds), once(5) ? number(1) : 1, bad(roots), once(3) ? integer(50) : 0, i1 > 4 ? 4 : i1, bad(&i2));
	}
	case 40: case 41: {
		mqEvent events[4];
		i1 = integer(4);
		return mqCrowd_GetEvents(ID(mqCrowdId, crowds), bad(events), i1 > 4 ? -1 : i1, bad(&i2));
	}
	case 42: {
		mqLODPolicy p = mqDefaultLODPolicy();
		if (once(3))
			p.every2 = number(30);
		return mqCrowd_ApplyLOD(ID(mqCrowdId, crowds), bad(&p), vec(20), vec(1), once(4) ? number(1) : 0);
	}
	case 43: {
		uint64_t hash;
		return mqCrowd_GetHash(ID(mqCrowdId, crowds), bad(&hash));
	}
	case 44: case 45: case 46: case 47: case 48: {
		mqAgentDef d = mqDefaultAgentDef();
		d.position = vec(10);
		d.heading = number(3);
		mqAgentId a;
		int32_t r = mqCreateAgent(ID(mqCrowdId, crowds), bad(&d), bad(&a));
		if (r == mq_ok)
			KEEP(agents, a);
		return r;
	}
	case 49: return mqDestroyAgent(ID(mqAgentId, agents));
	case 50: return mqAgent_GetRow(ID(mqAgentId, agents), bad(&i1));
	case 51: case 52: case 53: case 54: {
		mqGoal g = goal();
		return mqAgent_SetGoal(ID(mqAgentId, agents), bad(&g));
	}
	case 55: return mqAgent_SetPlace(ID(mqAgentId, agents), vec(10), number(3));
	case 56: return mqAgent_Nudge(ID(mqAgentId, agents), vec(1));
	case 57: return mqAgent_SetUpdateRate(ID(mqAgentId, agents), integer(4));
	case 58: return mqAgent_SetLookAt(ID(mqAgentId, agents), vec(10), fabsf(number(1)));
	case 59: return mqAgent_SetHand(ID(mqAgentId, agents), integer(1), vec(2), fabsf(number(1)), once(2) ? 0 : fabsf(number(2)));
	case 60: case 61: case 62: {
		mqPlayDef d = mqDefaultPlayDef();
		d.layer = integer(3);
		d.mask = integer(5);
		d.maskJoint = integer(27);
		d.loop = integer(1);
		d.additive = integer(1);
		d.rootMotion = once(3);
		if (once(4))
			d.speed = number(3);
		return mqAgent_PlayClip(ID(mqAgentId, agents), ID(mqClipId, clips), bad(&d));
	}
	case 63: return mqAgent_StopClip(ID(mqAgentId, agents), integer(3), number(1));
	case 64: return mqAgent_SetLayer(ID(mqAgentId, agents), integer(3), number(1), number(2));
	case 65: {
		mqClipId k;
		return mqAgent_GetClip(ID(mqAgentId, agents), integer(3), bad(&k), bad(&d1));
	}
	case 66: {
		i1 = integer(100);
		if (i1 > 100 || i1 < 0)
			i1 = 0;
		mqGetLastError((char*)memory, i1);
		return mq_ok;
	}
	}
	return mq_ok;
}

// Makes a world with agents, so that there is something to call for.
static void replenish(mqModelId model) {
	mqWorldDef worldDef = mqDefaultWorldDef();
	worldDef.space = mqGetSpace((int32_t)below(5));
	mqWorldId world;
	mqCrowdDef crowdDef = mqDefaultCrowdDef();
	crowdDef.model = model;
	crowdDef.capacity = 1 + (int32_t)below(4);
	mqCrowdId crowd;
	if (mqCreateWorld(&worldDef, &world) || mqCreateCrowd(world, &crowdDef, &crowd))
		fail("replenish", 0);
	KEEP(worlds, world);
	KEEP(crowds, crowd);
	for (int i = 0; i < crowdDef.capacity; i++) {
		mqAgentDef agentDef = mqDefaultAgentDef();
		mqAgentId agent;
		if (mqCreateAgent(crowd, &agentDef, &agent))
			fail("replenish", 0);
		KEEP(agents, agent);
	}
}

int main(int argc, char** argv) {
	if (argc != 5)
		return 2;
	dog = load(argv[1], &dogSize);
	hero = load(argv[2], &heroSize);
	state = strtoull(argv[3], NULL, 10);
	long calls = atol(argv[4]), of[10] = { 0 };
	forbidden = mmap(NULL, 4096 * 4, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mqModelId own[2];
	if (mqCreateModel(dog, dogSize, &own[0]) || mqCreateModel(hero, heroSize, &own[1]))
		fail("mqCreateModel", 0);
	models.ids[0] = *(anyId*)&own[0];
	models.ids[1] = *(anyId*)&own[1];
	for (long i = 0; i < calls; i++) {
		if (i % 150 == 0) {
			mqModelId again = own[i / 150 % 2], of;
			mqModelInfo info;
			if (mqModel_GetInfo(again, &info)) { // it was destroyed
				if (mqCreateModel(i / 150 % 2 ? hero : dog, i / 150 % 2 ? heroSize : dogSize, &of))
					fail("mqCreateModel", 0);
				again = own[i / 150 % 2] = of;
				models.ids[i / 150 % 2] = *(anyId*)&of;
			}
			replenish(again);
		}
		int32_t r = call();
		if (r < mq_ok || r >= mq_errorInternal)
			fail("a call", r);
		of[r]++;
	}
	printf("%ld calls:", calls);
	for (int i = 0; i < 10; i++)
		printf(" %ld", of[i]);
	printf("\n");
	return of[mq_ok] * 3 < calls; // too much of it is refused
}
