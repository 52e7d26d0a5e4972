// What unreal_test.go checks of the plugin, with testdata/engine in the place of Unreal. Each line is a name and a number.
#include "MannequinComponent.h"
#include "MannequinSubsystem.h"

static FVector bone(const AActor& actor, const char* name)
{
	const FVector p = actor.mesh->bones.at(FName(name)).position;
	const double a = FMath::DegreesToRadians(actor.rotation.Yaw); // turns +X toward +Y
	return actor.location + FVector(p.X * std::cos(a) - p.Y * std::sin(a), p.X * std::sin(a) + p.Y * std::cos(a), p.Z);
}

static void say(const char* name, double value) { std::printf("%s %g\n", name, value); }

int main(int, char** args)
{
	UWorld world;
	UMannequinSubsystem subsystem;
	FSubsystemCollectionBase collection;
	subsystem.Initialize(collection);
	world.subsystem = &subsystem;
	AActor actors[10];
	UPoseableMeshComponent meshes[10];
	UMannequinComponent dogs[10];
	for (int i = 0; i < 10; i++)
	{
		actors[i].mesh = &meshes[i];
		actors[i].location = FVector(0, 150 * i, 0);
		dogs[i].owner = &actors[i];
		dogs[i].world = &world;
		dogs[i].ModelFile = args[1];
	}
	actors[1].rotation = FRotator(0, 90, 0); // faces +Y
	actors[2].wall = 100;
	dogs[3].OriginHeight = 30;
	actors[3].location.Z = 30;
	for (int i = 0; i < 10; i++)
		dogs[i].BeginPlay();
	for (UMannequinComponent& dog : dogs)
		dog.Steer(FVector(1, 0, 0), 100);
	dogs[1].Steer(FVector(0, 1, 0), 100);
	dogs[4].GoTo(FVector(200, 600, 0), 50, 100);
	dogs[5].Act("sit");
	say("errors", errors);
	double lowest = 1e9, highest = -1e9;
	for (int frame = 0; frame < 300; frame++)
	{
		subsystem.Tick(1 / 60.f);
		double low = 1e9;
		for (const auto& b : meshes[0].bones)
			low = std::min(low, b.second.position.Z);
		lowest = std::min(lowest, low);
		highest = std::max(highest, low);
	}
	say("x", actors[0].location.X);
	say("y", actors[0].location.Y);
	say("turned-y", actors[1].location.Y - 150);
	say("turned-x", actors[1].location.X);
	say("wall-x", actors[2].location.X);
	say("raised-z", actors[3].location.Z);
	say("place-x", actors[4].location.X);
	say("sitting", bone(actors[5], "Hips").Z);
	say("standing", bone(actors[0], "Hips").Z);
	say("lowest", lowest);
	say("highest-of-lowest", highest);
	say("head", (bone(actors[0], "Head") - bone(actors[0], "Hips")).X);
	say("right-arm", (bone(actors[0], "RightArm") - bone(actors[0], "LeftArm")).Y);
	say("turned-head", (bone(actors[1], "Head") - bone(actors[1], "Hips")).Y);
	say("shin", (bone(actors[0], "LeftFoot") - bone(actors[0], "LeftLeg")).Size());
	say("bones", double(meshes[9].bones.size()));
	dogs[0].Act("fly");
	dogs[6].EndPlay(EEndPlayReason::Destroyed);
	dogs[6].Steer(FVector(1, 0, 0), 100); // does nothing
	UMannequinComponent bad;
	bad.owner = &actors[6];
	bad.world = &world;
	bad.ModelFile = "missing";
	bad.BeginPlay();
	bad.ModelFile = args[0]; // a program is no model
	bad.BeginPlay();
	const double before = actors[7].location.X;
	subsystem.Tick(0.1f);
	say("goes-on", actors[7].location.X - before);
	say("errors-wanted", errors);
	subsystem.Deinitialize();
	say("end", errors);
}
