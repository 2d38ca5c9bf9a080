import t from 'tap'
import { agentId } from '../../../src/agents/ids.ts'

t.test('the id of an agent is the version 5 UUID of its key', async (t) => {
  t.equal(agentId('myapp.agents.PirateAgent'), '2d33ff22-b9e9-5fb0-862c-f260ae70061f')
  t.equal(agentId('myapp.agents.MyAgent'), '70222c95-4f36-5404-9e76-08c2e19d0395')
  t.equal(agentId('your_app.agents.ShakespeareAgent'), '19d370eb-de8b-5481-87d1-b22ccc937a29')
})
