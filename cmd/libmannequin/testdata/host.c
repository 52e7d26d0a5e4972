// A host with threads and signals of its own, which loads the library while it runs: host LIBRARY MODEL.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MQ_NO_PROTOTYPES
#include "mannequin.h"

static mqWorldDef (*mqDefaultWorldDef)(void);
static mqCrowdDef (*mqDefaultCrowdDef)(void);
static mqAgentDef (*mqDefaultAgentDef)(void);
static mqBoneLayout (*mqDefaultBoneLayout)(void);
static int32_t (*mqGetLastError)(char*, int32_t);
static mqResult (*mqCreateModel)(const void*, size_t, mqModelId*);
static mqResult (*mqCreateWorld)(const mqWorldDef*, mqWorldId*);
static mqResult (*mqDestroyWorld)(mqWorldId);
static mqResult (*mqCreateCrowd)(mqWorldId, const mqCrowdDef*, mqCrowdId*);
static mqResult (*mqCreateAgent)(mqCrowdId, const mqAgentDef*, mqAgentId*);
static mqResult (*mqAgent_SetGoal)(mqAgentId, const mqGoal*);
static mqResult (*mqWorld_Tick)(mqWorldId);
static mqResult (*mqWorld_SetGroundCallback)(mqWorldId, mqGroundFcn*, void*);
static mqResult (*mqCrowd_GetHash)(mqCrowdId, uint64_t*);

static void fail(const char* what) {
	char text[512] = "";
	mqGetLastError(text, sizeof text);
	fprintf(stderr, "%s: %s\n", what, text);
	_exit(1);
}
#define CHECK(call) do { if ((call) != mq_ok) fail(#call); } while (0)

static volatile sig_atomic_t interrupted, faulted;
static sigjmp_buf back;
static void onInterrupt(int s) { (void)s; interrupted++; }
static void onFault(int s) {
	(void)s;
	faulted++;
	siglongjmp(back, 1);
}

// Installs the handlers, before the library is loaded or after it.
static void handlers(void) {
	struct sigaction a = { .sa_flags = SA_ONSTACK };
	a.sa_handler = onInterrupt;
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGUSR1, &a, NULL);
	a.sa_handler = onFault;
	sigaction(SIGSEGV, &a, NULL);
}

// The host's handlers run for signals and faults of its own.
static void signals(const char* when) {
	volatile int was = interrupted;
	raise(SIGINT);
	raise(SIGUSR1);
	if (interrupted != was + 2)
		fail(when);
	was = faulted;
	if (sigsetjmp(back, 1) == 0) {
		*(volatile int*)8 = 1;
		fail(when);
	}
	if (faulted != was + 1)
		fail(when);
}

static char* file;
static size_t size;
static mqModelId model;
enum { threads = 4 };
static uint64_t hashes[threads];
static mqWorldId busy;

// The ground is asked for by the thread that calls, because workers is 1.
static _Thread_local int calling;
static void ground(const mqGroundQuery* q, mqGroundHit* hit, void* context) {
	if (!calling)
		fail("the ground is asked for by another thread");
	*(int*)context += 1;
	hit->position.y = 0.05f * (q->position.x > 0 ? q->position.x : 0);
	hit->normal = (mqVec3){ -0.05f, 1, 0 };
}

static void* run(void* number) {
	int asked = 0;
	calling = 1;
	mqWorldDef worldDef = mqDefaultWorldDef();
	mqWorldId world;
	CHECK(mqCreateWorld(&worldDef, &world));
	CHECK(mqWorld_SetGroundCallback(world, ground, &asked));
	mqCrowdDef crowdDef = mqDefaultCrowdDef();
	crowdDef.model = model;
	crowdDef.capacity = 8;
	crowdDef.workers = 1;
	mqCrowdId crowd;
	CHECK(mqCreateCrowd(world, &crowdDef, &crowd));
	for (int i = 0; i < 8; i++) {
		mqAgentDef d = mqDefaultAgentDef();
		d.position.x = 2.0f * i;
		mqAgentId agent;
		CHECK(mqCreateAgent(crowd, &d, &agent));
		mqGoal goal = { .move = { 0, 0, 1 }, .speed = 1.5f, .turn = 0.1f * i };
		CHECK(mqAgent_SetGoal(agent, &goal));
	}
	// A text belongs to its thread.
	char mine[64], text[512];
	mqCrowdId none = { 1000 + (uint32_t)(size_t)number, 7 };
	if (mqCrowd_GetHash(none, &hashes[0]) != mq_errorId)
		fail("a made-up id");
	snprintf(mine, sizeof mine, "(%u, 0x7)", none.index1);
	for (int i = 0; i < 120; i++) {
		CHECK(mqWorld_Tick(world));
		if (i % 30 == 0)
			raise(SIGUSR1); // while others tick
		mqWorld_Tick(busy); // one of all threads has it at a time
	}
	mqCrowd_GetHash(none, &hashes[0]);
	mqGetLastError(text, sizeof text);
	if (!strstr(text, mine))
		fail("the text is of another thread");
	CHECK(mqCrowd_GetHash(crowd, &hashes[(size_t)number]));
	if (asked < 1000)
		fail("the ground is not asked for");
	CHECK(mqDestroyWorld(world));
	return NULL;
}

int main(int argc, char** argv) {
	if (argc != 3)
		return 2;
	FILE* f = fopen(argv[2], "rb");
	file = malloc(16 << 20);
	size = f ? fread(file, 1, 16 << 20, f) : 0;
	handlers();
	void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#define LOAD(name) do { *(void**)&name = dlsym(library, #name); if (!name) { fprintf(stderr, "no %s\n", #name); return 1; } } while (0)
	LOAD(mqDefaultWorldDef); LOAD(mqDefaultCrowdDef); LOAD(mqDefaultAgentDef); LOAD(mqDefaultBoneLayout); LOAD(mqGetLastError); LOAD(mqCreateModel); LOAD(mqCreateWorld);
	LOAD(mqDestroyWorld); LOAD(mqCreateCrowd); LOAD(mqCreateAgent); LOAD(mqAgent_SetGoal); LOAD(mqWorld_Tick); LOAD(mqWorld_SetGroundCallback); LOAD(mqCrowd_GetHash);
	CHECK(mqCreateModel(file, size, &model));
	free(file); // the library has a copy
	signals("handlers from before the library was loaded");
	handlers();
	signals("handlers from after it was loaded");
	mqWorldDef worldDef = mqDefaultWorldDef();
	CHECK(mqCreateWorld(&worldDef, &busy));
	for (int round = 0; round < 2; round++) { // threads that end, and new ones
		pthread_t all[threads];
		for (size_t i = 0; i < threads; i++)
			pthread_create(&all[i], NULL, run, (void*)i);
		for (int i = 0; i < threads; i++)
			pthread_join(all[i], NULL);
		for (int i = 1; i < threads; i++)
			if (hashes[i] != hashes[0])
				fail("threads have different hashes");
		signals("handlers after threads");
	}
	CHECK(mqDestroyWorld(busy));
	printf("%d signals, %d faults\n", (int)interrupted, (int)faulted);
	return 0;
}
