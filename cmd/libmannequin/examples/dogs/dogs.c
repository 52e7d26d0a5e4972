// Moves 100 dogs: all walk to one place, at speeds of their own. dogs dog-free.safetensors 1440
#include <stdio.h>
#include <stdlib.h>

#include "mannequin.h"

enum { dogs = 100 };

static void check(mqResult result) {
	if (result == mq_ok)
		return;
	char text[512];
	mqGetLastError(text, sizeof text);
	fprintf(stderr, "error %d: %s\n", (int)result, text);
	exit(1);
}

int main(int argc, char** argv) {
	FILE* file = fopen(argc > 1 ? argv[1] : "dog-free.safetensors", "rb");
	static char bytes[8 << 20];
	size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
	if (file)
		fclose(file);
	mqModelId model;
	check(mqCreateModel(bytes, size, &model));
	mqWorldDef worldDef = mqDefaultWorldDef(); // metres, +Y up, level ground
	mqWorldId world;
	check(mqCreateWorld(&worldDef, &world));
	mqCrowdDef crowdDef = mqDefaultCrowdDef();
	crowdDef.model = model;
	crowdDef.capacity = dogs;
	mqCrowdId crowd;
	check(mqCreateCrowd(world, &crowdDef, &crowd));
	static mqGoal goals[dogs];
	for (int i = 0; i < dogs; i++) {
		mqAgentDef agentDef = mqDefaultAgentDef();
		agentDef.position = (mqVec3){ 2.0f * (i % 10), 0, 2.0f * (i / 10) };
		mqAgentId dog;
		check(mqCreateAgent(crowd, &agentDef, &dog));
		goals[i] = (mqGoal){ .kind = mq_goalPlace, .place = { 9, 0, 9 }, .radius = 2, .speed = 1.1f + 0.02f * i };
	}
	mqModelInfo info;
	check(mqModel_GetInfo(model, &info));
	size_t room = dogs * info.joints * 7 * sizeof(float); // a position and a rotation each
	float* bones = malloc(room);
	mqBoneLayout layout = mqDefaultBoneLayout();
	int frames = argc > 2 ? atoi(argv[2]) : 1440;
	for (int frame = 0; frame < frames; frame++) { // of a screen with 144 Hz
		float alpha;
		check(mqCrowd_SetGoals(crowd, goals, dogs, 0));
		check(mqWorld_Step(world, 1.0 / 144, NULL, &alpha));
		check(mqCrowd_GetBones(crowd, &layout, alpha, bones, room, NULL));
		if (frame % 288 == 287)
			printf("after %d s the hips of the first dog are at (%.2f, %.2f, %.2f)\n", (frame + 1) / 144, bones[0], bones[1], bones[2]);
	}
	free(bones);
	check(mqDestroyWorld(world));
	check(mqDestroyModel(model));
	return 0;
}
