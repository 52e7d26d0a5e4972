// Ticks a crowd: crowd MODEL AGENTS TICKS EVERY. After each EVERY ticks it prints the hash and the seconds that they took, and waits
// for a line. At the end it prints the nanoseconds of one call that does nothing much. The agents do what crowd_test.go has them do in
// Go.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mannequin.h"

static void check(mqResult r) {
	char text[512];
	if (r == mq_ok)
		return;
	mqGetLastError(text, sizeof text);
	fprintf(stderr, "error %d: %s\n", (int)r, text);
	exit(1);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char** argv) {
	if (argc != 5)
		return 2;
	static char file[16 << 20];
	FILE* f = fopen(argv[1], "rb");
	if (!f)
		return 2;
	size_t size = fread(file, 1, sizeof file, f);
	int n = atoi(argv[2]), ticks = atoi(argv[3]), every = atoi(argv[4]);
	mqModelId model;
	check(mqCreateModel(file, size, &model));
	mqWorldDef worldDef = mqDefaultWorldDef();
	mqWorldId world;
	check(mqCreateWorld(&worldDef, &world));
	mqCrowdDef crowdDef = mqDefaultCrowdDef();
	crowdDef.model = model;
	crowdDef.capacity = n;
	mqCrowdId crowd;
	check(mqCreateCrowd(world, &crowdDef, &crowd));
	mqGoal* goals = calloc((size_t)n, sizeof *goals);
	for (int i = 0; i < n; i++) {
		mqAgentDef d = mqDefaultAgentDef();
		d.position = (mqVec3){ 2.0f * (i % 32), 0, 2.0f * (i / 32) };
		d.heading = 0.1f * i;
		mqAgentId agent;
		check(mqCreateAgent(crowd, &d, &agent));
	}
	mqModelInfo info;
	check(mqModel_GetInfo(model, &info));
	size_t room = (size_t)n * info.joints * 7 * sizeof(float);
	float* bones = malloc(room);
	mqBoneLayout layout = mqDefaultBoneLayout();
	double spent = 0;
	for (int tick = 0; tick < ticks; tick++) {
		double began = now();
		for (int i = 0; i < n; i++)
			goals[i] = (mqGoal){ .move = { 0, 0, 1 }, .turn = ((tick / 60 + i) % 5 - 2) * 0.25f, .speed = (i % 4) * 0.8f };
		check(mqCrowd_SetGoals(crowd, goals, n, 0));
		check(mqWorld_Tick(world));
		check(mqCrowd_GetBones(crowd, &layout, 1, bones, room, NULL));
		spent += now() - began;
		if (tick % every == every - 1) {
			uint64_t hash;
			check(mqCrowd_GetHash(crowd, &hash));
			printf("%016llx %.9f\n", (unsigned long long)hash, spent);
			fflush(stdout);
			spent = 0;
			while (getchar() >= ' ')
				;
		}
	}
	uint64_t least = ~0ull;
	for (int k = 0; k < 20; k++) { // the least of 20: the machine may have other work
		enum { calls = 2000 };
		mqAgentId agent;
		int32_t count, row;
		check(mqCrowd_GetAgents(crowd, &agent, 1, &count));
		double began = now();
		for (int i = 0; i < calls; i++)
			check(mqAgent_GetRow(agent, &row));
		uint64_t each = (uint64_t)((now() - began) / calls * 1e9);
		least = each < least ? each : least;
	}
	printf("call %llu\n", (unsigned long long)least);
	check(mqDestroyWorld(world));
	check(mqDestroyModel(model));
	free(goals);
	free(bones);
	fclose(f);
	return 0;
}
