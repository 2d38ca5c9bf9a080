-- CreateIndex
CREATE INDEX "Thread_tenantId_id_idx" ON "Thread"("tenantId", "id");
