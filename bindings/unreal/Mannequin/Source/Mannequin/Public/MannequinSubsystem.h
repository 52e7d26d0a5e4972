#pragma once

#include "CoreMinimal.h"
#include "Subsystems/WorldSubsystem.h"
#include "mannequin.h"
#include "MannequinSubsystem.generated.h"

class UMannequinComponent;

/** The agents of a world. It ticks them and moves their actors and bones. */
UCLASS()
class MANNEQUIN_API UMannequinSubsystem : public UTickableWorldSubsystem
{
	GENERATED_BODY()

public:
	virtual void Initialize(FSubsystemCollectionBase& Collection) override;
	virtual void Deinitialize() override;
	virtual void Tick(float DeltaTime) override;
	virtual TStatId GetStatId() const override;

	/** Adds an agent for a component, where its actor stands. Returns false, with an error in the log, if there is none. */
	bool Add(UMannequinComponent* Component);
	void Remove(UMannequinComponent* Component);

	/** The library's world, for ground, obstacles and clips. */
	mqWorldId GetMannequinWorld() const { return World; }

private:
	struct FCrowd
	{
		FString File;
		mqModelId Model;
		mqCrowdId Crowd;
		TArray<FName> Joints;
		TArray<UMannequinComponent*> Members; // they leave in EndPlay
		TArray<mqRoot> Roots;
		TArray<float> Bones; // of all agents: a position and a rotation each
	};

	FCrowd* FindOrOpen(const FString& File);
	static UMannequinComponent* FindMember(const FCrowd& Crowd, mqAgentId Agent, int32 Hint);
	static void Move(mqCrowdId Crowd, mqMove* Moves, int32_t Count, void* Context);
	void Pose(FCrowd& Crowd, float Alpha);

	mqWorldId World = { 0, 0 };
	TArray<FCrowd> Crowds;
};
