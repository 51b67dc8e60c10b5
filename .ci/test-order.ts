// In which order the test files of a run start. Vitest starts the largest of a project first, which says little of these: some short
// files take a minute or three. The last of them would run alone, with every other worker idle.
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LONGEST, pathOf } from "./test-projects.js";

/** The longest files first; the others as Vitest orders them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification) => file.project.name === "slow" && LONGEST.includes(pathOf(file.moduleId));
    const place = (file: TestSpecification) => LONGEST.indexOf(pathOf(file.moduleId));
    return [...sorted.filter(isLong).sort((a, b) => place(a) - place(b)), ...sorted.filter((file) => !isLong(file))];
  }
}
