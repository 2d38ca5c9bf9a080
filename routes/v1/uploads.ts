import { fileReference } from '../reference/files.ts'
import type { RoutePlugin } from '../route-plugin.ts'

const uploads: RoutePlugin = async (app) => {
  app.get('/uploads/settings', { schema: fileReference.settings }, async () => app.files.settings())
}

export default uploads
