-- CreateTable
CREATE TABLE "Placement" (
    "tenantId" TEXT NOT NULL,
    "ownerId" TEXT NOT NULL,
    "threadId" TEXT NOT NULL,
    "storage" TEXT NOT NULL,
    "claim" TEXT NOT NULL,

    PRIMARY KEY ("tenantId", "ownerId", "threadId")
);

-- CreateTable
CREATE TABLE "PlacedItem" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "tenantId" TEXT NOT NULL,
    "ownerId" TEXT NOT NULL,
    "threadId" TEXT NOT NULL,
    CONSTRAINT "PlacedItem_tenantId_ownerId_threadId_fkey" FOREIGN KEY ("tenantId", "ownerId", "threadId") REFERENCES "Placement" ("tenantId", "ownerId", "threadId") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "Placement_tenantId_threadId_idx" ON "Placement"("tenantId", "threadId");

-- CreateIndex
CREATE INDEX "PlacedItem_tenantId_ownerId_threadId_idx" ON "PlacedItem"("tenantId", "ownerId", "threadId");
