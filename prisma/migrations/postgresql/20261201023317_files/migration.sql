-- CreateTable
CREATE TABLE "File" (
    "id" TEXT NOT NULL,
    "threadKey" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "mediaType" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "storageKey" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "step" TEXT,
    "errorCode" TEXT,
    "errorMessage" TEXT,
    "facts" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "holder" TEXT,
    "claimId" TEXT,
    "leaseUntil" TIMESTAMP(3),
    "createdAt" TIMESTAMP(3) NOT NULL,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "File_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "File_storageKey_key" ON "File"("storageKey");

-- CreateIndex
CREATE INDEX "File_threadKey_createdAt_id_idx" ON "File"("threadKey", "createdAt", "id");

-- CreateIndex
CREATE INDEX "File_status_idx" ON "File"("status");

-- CreateIndex
CREATE UNIQUE INDEX "File_threadKey_sha256_key" ON "File"("threadKey", "sha256");

-- AddForeignKey
ALTER TABLE "File" ADD CONSTRAINT "File_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread"("key") ON DELETE CASCADE ON UPDATE CASCADE;
