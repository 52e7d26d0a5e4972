#pragma once

#include "CoreMinimal.h"
#include "Components/ActorComponent.h"
#include "mannequin.h"
#include "MannequinComponent.generated.h"

class UMannequinSubsystem;
class UPoseableMeshComponent;

/**
 * Makes its actor an agent of a crowd: the actor goes where the agent goes, and the bones of its PoseableMesh move.
 * The bones of the mesh have the names of the model's joints and their axes, and the mesh faces +X. The actor's root component is
 * swept, so that it stops at walls, and the agent with it.
 */
UCLASS(ClassGroup = (Animation), meta = (BlueprintSpawnableComponent))
class MANNEQUIN_API UMannequinComponent : public UActorComponent
{
	GENERATED_BODY()

public:
	/** The model's file, below the project's Content folder. Actors with the same file are a crowd. */
	UPROPERTY(EditAnywhere, Category = "Mannequin")
	FString ModelFile = TEXT("Mannequin/dog-free.safetensors");

	/** How far the actor's origin is above the ground, in cm: for a capsule, half its height and a little more. */
	UPROPERTY(EditAnywhere, Category = "Mannequin")
	float OriginHeight = 0;

	/** Goes as a stick is held: a direction in the world, at most 1 long; cm a second. */
	UFUNCTION(BlueprintCallable, Category = "Mannequin")
	void Steer(FVector Direction, float Speed);

	UFUNCTION(BlueprintCallable, Category = "Mannequin")
	void GoTo(FVector Place, float Radius, float Speed);

	/** Does an action that the model knows: sit, lie; idle stands. */
	UFUNCTION(BlueprintCallable, Category = "Mannequin")
	void Act(const FString& Action);

	virtual void BeginPlay() override;
	virtual void EndPlay(const EEndPlayReason::Type Reason) override;

private:
	friend class UMannequinSubsystem;

	void SetGoal(const mqGoal& Goal);

	mqAgentId Agent = { 0, 0 };
	mqModelId Model = { 0, 0 };
	UPoseableMeshComponent* Mesh = nullptr;
};
