"""A table of pairs between students and courses, read from both sides."""

from dataclasses import dataclass

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec, without


@dataclass(frozen=True)
class School:
    """Ten students and ten courses; nobody has enrolled yet."""

    project: Deployment
    students: list[str]
    courses: list[str]

    def enroll(self, student: int, course: int) -> object:
        return self.project.mutation("index:enroll", self.pair(student, course))

    def unenroll(self, student: int, course: int) -> object:
        return self.project.mutation("index:unenroll", self.pair(student, course))

    def is_enrolled(self, student: int, course: int) -> object:
        return self.project.query("index:isEnrolled", self.pair(student, course))

    def courses_of(self, student: int) -> list[int]:
        received = self.project.query("index:coursesOf", studentId=self.students[student])
        return [self.courses.index(course["_id"]) for course in received]

    def students_of(self, course: int) -> list[int]:
        received = self.project.query("index:studentsOf", courseId=self.courses[course])
        return [self.students.index(student["_id"]) for student in received]

    def pair(self, student: int, course: int) -> dict[str, str]:
        return {"studentId": self.students[student], "courseId": self.courses[course]}

    def fill(self) -> None:
        """Students and courses from 1 to 9 have each other; student 0 and course 0 have seven each."""
        few = [(0, 7), (8, 0), (0, 3), (2, 0), (0, 5), (6, 0), (0, 1), (1, 0), (0, 8), (9, 0), (0, 0), (0, 2), (5, 0)]
        pairs = [(student, course) for student in range(1, 10) for course in range(1, 10)]
        self.project.insert_many("enrollments", [self.pair(student, course) for student, course in few + pairs])


def open_school(project: Deployment) -> School:
    students = project.insert_many("students", [{"name": f"Student {n}"} for n in range(10)])
    courses = project.insert_many("courses", [{"title": f"Course {n}"} for n in range(10)])
    return School(project, students, courses)


def test_the_tables_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    for table in ("students", "courses", "enrollments"):
        assert project.schema().table(table).fields == answer.schema().table(table).fields
    same_function_spec(project, answer)


def test_enrolling_twice_is_the_same_as_once(project: Deployment) -> None:
    school = open_school(project)
    for student, course in ((1, 1), (1, 2), (2, 1), (1, 1)):
        assert school.enroll(student, course) is None
    expected = [school.pair(1, 1), school.pair(1, 2), school.pair(2, 1)]
    assert without(project.documents("enrollments")) == expected
    assert [school.is_enrolled(*pair) for pair in ((1, 1), (2, 1), (2, 2), (3, 1))] == [True, True, False, False]


def test_unenrolling_ends_one_enrollment_and_no_other(project: Deployment) -> None:
    school = open_school(project)
    for student, course in ((1, 1), (1, 2), (2, 1)):
        school.enroll(student, course)
    for student, course in ((1, 1), (1, 1), (3, 3)):
        assert school.unenroll(student, course) is None
    assert without(project.documents("enrollments")) == [school.pair(1, 2), school.pair(2, 1)]
    assert school.is_enrolled(1, 1) is False


def test_both_sides_are_listed_in_the_order_of_enrollment(project: Deployment) -> None:
    school = open_school(project)
    school.fill()
    assert school.courses_of(0) == [7, 3, 5, 1, 8, 0, 2]
    assert school.students_of(0) == [8, 2, 6, 1, 9, 0, 5]
    received = project.query("index:coursesOf", studentId=school.students[0])
    assert received[0] == project.get(school.courses[7]), "coursesOf must return the documents of courses"
    received = project.query("index:studentsOf", courseId=school.courses[0])
    assert received[0] == project.get(school.students[8]), "studentsOf must return the documents of students"


def test_nothing_is_listed_for_those_without_enrollments(project: Deployment) -> None:
    school = open_school(project)
    school.enroll(1, 1)
    assert (school.courses_of(2), school.students_of(2)) == ([], [])


def test_deleted_courses_and_students_are_left_out(project: Deployment) -> None:
    school = open_school(project)
    school.fill()
    project.delete("courses", school.courses[3])
    project.delete("students", school.students[2])
    assert school.courses_of(0) == [7, 5, 1, 8, 0, 2]
    assert school.students_of(0) == [8, 6, 1, 9, 0, 5]


def test_lists_read_nothing_that_belongs_to_others(project: Deployment) -> None:
    school = open_school(project)
    school.fill()
    with project.trace() as courses:
        school.courses_of(0)
    with project.trace() as students:
        school.students_of(0)
    read = [courses.documents_read, students.documents_read]
    # One more each: the student or the course itself may be looked at.
    assert max(read) <= 2 * 7 + 1, f"read by coursesOf and studentsOf: {read}"


def test_one_pair_is_found_without_reading_others(project: Deployment) -> None:
    school = open_school(project)
    school.fill()
    with project.trace() as asked:
        school.is_enrolled(5, 5)
    with project.trace() as enrolled:
        school.enroll(5, 6)
    with project.trace() as unenrolled:
        school.unenroll(5, 6)
    # Two more each for the student and the course; deleting a document reads it once more.
    read = [work.documents_read for work in (asked, enrolled, unenrolled)]
    assert read[0] <= 3 and read[1] <= 3 and read[2] <= 4, f"read by isEnrolled, enroll and unenroll: {read}"
