-- CreateTable
CREATE TABLE "Recollection" (
    "threadKey" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "messages" TEXT NOT NULL,
    "updatedAt" DATETIME NOT NULL,

    PRIMARY KEY ("threadKey", "agentId"),
    CONSTRAINT "Recollection_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread" ("key") ON DELETE CASCADE ON UPDATE CASCADE
);
