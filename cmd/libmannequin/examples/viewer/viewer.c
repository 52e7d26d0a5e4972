// Shows a crowd of a model as moving skeletons, in a window of OpenGL. The arrow keys steer the first one, Shift runs.
//
//     viewer hero.character                     20 of them
//     viewer dog-free.safetensors 100           100 of them
//     viewer hero.character 20 240 picture.ppm  ends after 240 frames, and writes the last one as a picture
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <GLFW/glfw3.h>

#include "mannequin.h"

static void fail(const char* text) {
	fprintf(stderr, "viewer: %s\n", text);
	exit(1);
}

static void check(mqResult result) {
	static char text[1024];
	if (result == mq_ok)
		return;
	mqGetLastError(text, sizeof text);
	fail(text);
}

static mqModelId openModel(const char* path) {
	FILE* file = fopen(path, "rb");
	if (!file)
		fail("the model's file cannot be opened");
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	rewind(file);
	void* bytes = size > 0 ? malloc(size) : NULL;
	if (!bytes || fread(bytes, 1, size, file) != (size_t)size)
		fail("the model's file cannot be read");
	fclose(file);
	mqModelId model;
	check(mqCreateModel(bytes, size, &model));
	free(bytes); // the library has copied them
	return model;
}

// The camera stands behind the first agent and a little above, and looks along +Z.
static void look(GLFWwindow* window, mqVec3 at) {
	int width, height;
	glfwGetFramebufferSize(window, &width, &height);
	glViewport(0, 0, width, height);
	glClearColor(0.9f, 0.92f, 0.95f, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	float near = 0.1f, far = 100, up = 0.5f * near, aside = up * width / (height > 0 ? height : 1);
	glMatrixMode(GL_PROJECTION);
	glLoadIdentity();
	glFrustum(-aside, aside, -up, up, near, far);
	glMatrixMode(GL_MODELVIEW);
	glLoadIdentity();
	glTranslatef(0, -0.6f, -5);
	glRotatef(15, 1, 0, 0);
	glRotatef(180, 0, 1, 0); // OpenGL looks along -Z
	glTranslatef(-at.x, 0, -at.z);
}

static void drawGround(mqVec3 at) {
	float x = floorf(at.x), z = floorf(at.z);
	glColor3f(0.75f, 0.77f, 0.8f);
	glLineWidth(1);
	glBegin(GL_LINES);
	for (int i = -20; i <= 20; i++) {
		glVertex3f(x + i, 0, z - 20);
		glVertex3f(x + i, 0, z + 20);
		glVertex3f(x - 20, 0, z + i);
		glVertex3f(x + 20, 0, z + i);
	}
	glEnd();
}

// A line from each joint to its parent.
static void drawBones(const float* bones, const int* parents, int joints, int agents) {
	glLineWidth(4);
	glBegin(GL_LINES);
	for (int a = 0; a < agents; a++, bones += 3 * joints) {
		if (a == 0)
			glColor3f(0.8f, 0.3f, 0.1f);
		else
			glColor3f(0.2f, 0.35f, 0.6f);
		for (int j = 1; j < joints; j++) {
			glVertex3fv(bones + 3 * j);
			glVertex3fv(bones + 3 * parents[j]);
		}
	}
	glEnd();
}

static void writePicture(GLFWwindow* window, const char* path) {
	int width, height;
	glfwGetFramebufferSize(window, &width, &height);
	unsigned char* pixels = malloc(3 * (size_t)width * height);
	FILE* file = fopen(path, "wb");
	if (!pixels || !file)
		fail("the picture cannot be written");
	glPixelStorei(GL_PACK_ALIGNMENT, 1);
	glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
	fprintf(file, "P6\n%d %d\n255\n", width, height);
	for (int y = height - 1; y >= 0; y--) // rows from above
		fwrite(pixels + 3 * (size_t)width * y, 3, width, file);
	if (fclose(file) != 0)
		fail("the picture cannot be written");
	free(pixels);
}

int main(int argc, char** argv) {
	if (argc < 2)
		fail("want a model: viewer MODEL [AGENTS [FRAMES PICTURE]]");
	int agents = argc > 2 ? atoi(argv[2]) : 20, frames = argc > 4 ? atoi(argv[3]) : 0;
	if (agents < 1 || agents > 1000)
		fail("AGENTS is 1 to 1000");
	mqModelId model = openModel(argv[1]);
	mqModelInfo info;
	check(mqModel_GetInfo(model, &info));
	int* parents = malloc(info.joints * sizeof *parents);
	float* bones = malloc(3 * sizeof(float) * info.joints * agents); // positions alone
	mqGoal* goals = calloc(agents, sizeof *goals);
	if (!parents || !bones || !goals)
		fail("out of memory");
	for (int j = 0; j < info.joints; j++) {
		mqJoint joint;
		check(mqModel_GetJoint(model, j, NULL, &joint));
		parents[j] = joint.parent;
	}
	mqWorldDef worldDef = mqDefaultWorldDef(); // +X left, +Y up, +Z forward, metres
	mqWorldId world;
	check(mqCreateWorld(&worldDef, &world));
	mqCrowdDef crowdDef = mqDefaultCrowdDef();
	crowdDef.model = model;
	crowdDef.capacity = agents;
	mqCrowdId crowd;
	check(mqCreateCrowd(world, &crowdDef, &crowd));
	for (int i = 0; i < agents; i++) {
		mqAgentDef def = mqDefaultAgentDef();
		if (i > 0)
			def.position = (mqVec3){ 4 * cosf(2.4f * i) * sqrtf(i) / 2, 0, 4 + 4 * sinf(2.4f * i) * sqrtf(i) / 2 };
		mqAgentId agent;
		check(mqCreateAgent(crowd, &def, &agent));
	}
	mqBoneLayout layout = mqDefaultBoneLayout();
	layout.positionOffset = 0;
	layout.rotationOffset = -1;
	layout.boneStride = 3 * sizeof(float);

	if (!glfwInit())
		fail("there is no display");
	glfwWindowHint(GLFW_VISIBLE, frames == 0);
	GLFWwindow* window = glfwCreateWindow(960, 540, "mannequin", NULL, NULL);
	if (!window)
		fail("there is no OpenGL");
	glfwMakeContextCurrent(window);
	glfwSwapInterval(1);
	glEnable(GL_DEPTH_TEST);
	double then = glfwGetTime();
	for (int frame = 1; !glfwWindowShouldClose(window); frame++) {
		glfwPollEvents();
		float aside = 0, ahead = 0;
		if (glfwGetKey(window, GLFW_KEY_LEFT))
			aside++;
		if (glfwGetKey(window, GLFW_KEY_RIGHT))
			aside--;
		if (glfwGetKey(window, GLFW_KEY_UP) || frames > 0)
			ahead++;
		if (glfwGetKey(window, GLFW_KEY_DOWN))
			ahead--;
		float speed = glfwGetKey(window, GLFW_KEY_LEFT_SHIFT) ? info.topSpeed : 1.3f;
		goals[0] = (mqGoal){ .kind = mq_goalStick, .move = { aside, 0, ahead }, .speed = speed };
		for (int i = 1; i < agents; i++) // round in circles, each at a speed of its own
			goals[i] = (mqGoal){ .action = mq_actionMove, .move = { 0, 0, 1 }, .speed = 0.8f + 0.1f * (i % 8), .turn = i % 2 ? 0.3f : -0.3f };
		check(mqCrowd_SetGoals(crowd, goals, agents, 0));
		double now = glfwGetTime(), passed = frames > 0 ? 1.0 / 60 : now - then;
		then = now;
		float alpha;
		check(mqWorld_Step(world, passed, NULL, &alpha));
		check(mqCrowd_GetBones(crowd, &layout, alpha, bones, 3 * sizeof(float) * info.joints * agents, NULL));
		mqVec3 at = { bones[0], bones[1], bones[2] };
		look(window, at);
		drawGround(at);
		drawBones(bones, parents, info.joints, agents);
		if (frame == frames) {
			writePicture(window, argv[4]);
			break;
		}
		glfwSwapBuffers(window);
	}
	glfwTerminate();
	check(mqDestroyWorld(world));
	check(mqDestroyModel(model));
	free(parents);
	free(bones);
	free(goals);
	return 0;
}
