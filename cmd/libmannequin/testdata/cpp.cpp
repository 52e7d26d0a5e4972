// Uses mannequin.hpp: cpp MODEL.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "mannequin.hpp"

static void require(bool ok, const char* what) {
	if (!ok) {
		std::printf("not so: %s\n", what);
		std::exit(1);
	}
}

int main(int argc, char** argv) {
	std::ifstream in(argc > 1 ? argv[1] : "", std::ios::binary);
	std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
	mannequin::Model dog(bytes);
	mqWorldDef def = mqDefaultWorldDef();
	def.space = mqGetSpace(mq_engineUnreal);
	mannequin::World made(def), world = std::move(made);
	int asked = 0, moved = 0;
	world.ground([&](const mqGroundQuery&, mqGroundHit& hit) {
		asked++;
		hit.position.z = 50;
		hit.normal = { 0, 0, 1 };
	});
	mqCrowdDef crowdDef = mqDefaultCrowdDef();
	crowdDef.model = dog.id();
	crowdDef.capacity = 3;
	crowdDef.workers = 1;
	mannequin::Crowd crowd = world.crowd(crowdDef);
	for (int i = 0; i < 3; i++)
		crowd.spawn({ 0, 200.0f * i, 50 }, 0);
	world.move([&](mqCrowdId, mqMove* moves, int32_t count) {
		moved++;
		moves[count - 1].after = moves[count - 1].before; // the last one is held
	});
	std::vector<mqGoal> goals(3);
	for (auto& g : goals)
		g.move = { 1, 0, 0 }, g.speed = 150; // ahead is +X, in centimetres
	crowd.goals(goals);
	std::vector<unsigned char> save;
	std::vector<mqEvent> events;
	std::size_t feet = 0;
	for (int i = 0; i < 240; i++) {
		if (i == 120)
			world.save(save);
		world.tick();
		crowd.events(events);
		feet += events.size();
	}
	std::vector<mqRoot> roots;
	crowd.roots(roots);
	require(asked > 100 && moved == 240, "callbacks are called");
	require(feet > 20, "feet come down");
	require(roots[0].position.x > 300 && std::fabs(roots[0].position.y) < 60 && roots[0].position.z == 50, "a dog goes along +X, on its ground");
	require(std::fabs(roots[2].position.x) < 5, "a dog that is held stays");
	std::vector<float> bones(3 * 12 * static_cast<std::size_t>(dog.info().joints));
	mqBoneLayout layout = mqDefaultBoneLayout();
	layout.format = mq_formatRows3x4;
	require(crowd.bones(bones.data(), bones.size() * sizeof(float), 1, layout) == 3, "three dogs");
	require(bones[11] > 80 && bones[11] < 110, "hips are 48 cm above the ground");
	uint64_t hash = crowd.hash();
	world.restore(save);
	for (int i = 0; i < 120; i++)
		world.tick();
	require(crowd.hash() == hash, "a save goes on with the same bits");
	try {
		crowd.spawn({ NAN, 0, 0 }, 0);
		require(false, "an error is thrown");
	} catch (const mannequin::Error& e) {
		require(e.code == mq_errorFull, "the code of a full crowd");
		std::printf("%s\n", e.what());
	}
	std::printf("the first dog is at (%.0f, %.0f, %.0f) cm\n", roots[0].position.x, roots[0].position.y, roots[0].position.z);
}
