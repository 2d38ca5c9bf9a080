-- CreateTable
CREATE TABLE "Recollection" (
    "threadKey" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "messages" TEXT NOT NULL,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "Recollection_pkey" PRIMARY KEY ("threadKey","agentId")
);

-- AddForeignKey
ALTER TABLE "Recollection" ADD CONSTRAINT "Recollection_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread"("key") ON DELETE CASCADE ON UPDATE CASCADE;
